package store

// Settle waits until upkeep has ended.
func Settle(s *Store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy {
		s.idle.Wait()
	}
}
