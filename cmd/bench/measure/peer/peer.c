// What `make bench-measure` compares the kernels of homenode measure with: the same pointer chase and the same ping-pong
// in C. It is compiled when the benchmark runs (cc -O2 -pthread), reads one command a line and answers each
// with one line of numbers, or with a line that begins with "error".
//
//	pin CPU                    run on this processor from now on
//	take BYTES HUGE            map memory in huge pages (1) or small ones (0) and touch it; frees what was taken before
//	link BYTES LINE SEED       make one cycle of the lines of the first bytes, by the shuffle of measure/guest/chase
//	order                      hash of the offsets in the order of the cycle (FNV-1a of 64 bits)
//	walk LOADS SAMPLES         nanoseconds of one load, so many samples
//	swap A B SAMPLES TRIPS     nanoseconds of one way between two processors, so many samples
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HUGE_PAGE ((size_t)2 << 20)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int pin(int cpu)
{
	cpu_set_t set;
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return -1;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof set, &set);
}

// Memory.

static char *all, *memory;
static size_t mapped, size;

static int take(size_t bytes, int huge)
{
	if (all)
		munmap(all, mapped);
	size = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	mapped = size + 2 * HUGE_PAGE;
	all = mmap(NULL, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED) {
		all = NULL;
		return -1;
	}
	memory = (char *)(((uintptr_t)all + HUGE_PAGE) / HUGE_PAGE * HUGE_PAGE);
	if (mprotect(memory, size, PROT_READ | PROT_WRITE))
		return -1;
	if (madvise(memory, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && huge)
		return -1;
	for (size_t at = 0; at < size; at += 4096)
		*(uint32_t *)(memory + at) = at / 4096 + 1;
	if (huge)
		madvise(memory, size, MADV_COLLAPSE); // the caller asks the kernel how much is huge
	return 0;
}

// The random numbers of Go's math/rand/v2: PCG-DXSM, and Lemire's way to a number below n.

typedef struct {
	unsigned __int128 state;
} pcg;

static uint64_t draw(pcg *p)
{
	const unsigned __int128 mul = (unsigned __int128)2549297995355413924u << 64 | 4865540595714422341u;
	const unsigned __int128 inc = (unsigned __int128)6364136223846793005u << 64 | 1442695040888963407u;
	p->state = p->state * mul + inc;
	uint64_t hi = p->state >> 64, lo = p->state;
	hi ^= hi >> 32;
	hi *= 0xda942042e4dd58b5u;
	hi ^= hi >> 48;
	return hi * (lo | 1);
}

// below returns a number below n.
static uint64_t below(pcg *p, uint64_t n)
{
	if ((n & (n - 1)) == 0)
		return draw(p) & (n - 1);
	unsigned __int128 product = (unsigned __int128)draw(p) * n;
	if ((uint64_t)product < n) {
		uint64_t least = -n % n;
		while ((uint64_t)product < least)
			product = (unsigned __int128)draw(p) * n;
	}
	return product >> 64;
}

// The chase.

static void *at;
static size_t lines;

static void link_lines(size_t bytes, size_t line, uint64_t seed)
{
	lines = bytes / line;
	for (size_t i = 0; i < lines; i++)
		*(void **)(memory + i * line) = memory + i * line;
	pcg p = {(unsigned __int128)seed << 64 | lines};
	for (size_t i = lines - 1; i > 0; i--) {
		void **a = (void **)(memory + i * line), **b = (void **)(memory + below(&p, i) * line), *held = *a;
		*a = *b;
		*b = held;
	}
	at = memory;
}

static uint64_t order(void)
{
	uint64_t hash = 14695981039346656037u;
	char *p = memory;
	for (size_t i = 0; i < lines; i++, p = *(char **)p) {
		uint64_t offset = p - memory;
		for (int b = 0; b < 8; b++)
			hash = (hash ^ (offset >> 8 * b & 255)) * 1099511628211u;
	}
	return hash;
}

static __attribute__((noinline)) void *follow(void *p, long rounds)
{
	for (; rounds > 0; rounds--) {
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
		p = *(void **)p;
	}
	return p;
}

static double walk(long loads)
{
	long rounds = loads < 16 ? 1 : (loads + 15) / 16;
	double start = now();
	at = follow(at, rounds);
	return (now() - start) / (rounds * 16.0);
}

// The ping-pong.

// The word is at another address each time, as homenode's is: where the line is kept in the L3 changes the
// figure by some percent.
static struct table {
	char before[128];
	uint32_t word;
	char after[124];
	uint32_t here;
	char end[124];
} __attribute__((aligned(128))) tables[4096], *table;

static void meet(void)
{
	__atomic_add_fetch(&table->here, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&table->here, __ATOMIC_SEQ_CST) < 2)
		;
}

static void swap(long times, uint32_t from, uint32_t to)
{
	for (; times > 0; times--) {
		uint32_t found;
		do
			found = from;
		while (!__atomic_compare_exchange_n(&table->word, &found, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
	}
}

typedef struct {
	int cpu, error;
	long samples, trips;
	double *out; // of the first thread
} end;

static void *run_end(void *p)
{
	end *e = p;
	e->error = pin(e->cpu);
	meet();
	if (!e->out) {
		swap((e->samples + 1) * e->trips, 1, 0);
		return NULL;
	}
	swap(e->trips, 0, 1); // warm
	for (long i = 0; i < e->samples; i++) {
		double start = now();
		swap(e->trips, 0, 1);
		e->out[i] = (now() - start) / (2.0 * e->trips);
	}
	return NULL;
}

static int ping_pong(int a, int b, long samples, long trips, double *out)
{
	end ends[2] = {{a, 0, samples, trips, out}, {b, 0, samples, trips, NULL}};
	pthread_t threads[2];
	table = &tables[random() % (sizeof tables / sizeof *tables)];
	memset(table, 0, sizeof *table);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, run_end, &ends[i]))
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return ends[0].error || ends[1].error ? -1 : 0;
}

#define MOST 1000

static void print(const double *out, long n)
{
	for (long i = 0; i < n; i++)
		printf("%s%.4f", i ? " " : "", out[i]);
	printf("\n");
}

int main(void)
{
	static double out[MOST];
	char text[256];
	while (fgets(text, sizeof text, stdin)) {
		size_t bytes, line;
		uint64_t seed;
		int a, b;
		long n, samples;
		errno = 0;
		if (sscanf(text, "pin %d", &a) == 1 && pin(a) == 0)
			printf("0\n");
		else if (sscanf(text, "take %zu %d", &bytes, &a) == 2 && take(bytes, a) == 0)
			printf("0\n");
		else if (sscanf(text, "link %zu %zu %lu", &bytes, &line, &seed) == 3 && memory && line >= 8 && bytes <= size && bytes >= 2 * line) {
			link_lines(bytes, line, seed);
			printf("0\n");
		} else if (strcmp(text, "order\n") == 0 && at)
			printf("%lu\n", order());
		else if (sscanf(text, "walk %ld %ld", &n, &samples) == 2 && at && samples > 0 && samples <= MOST) {
			for (long i = 0; i < samples; i++)
				out[i] = walk(n);
			print(out, samples);
		} else if (sscanf(text, "swap %d %d %ld %ld", &a, &b, &samples, &n) == 4 && a != b && samples > 0 && samples <= MOST && n > 0 &&
			   ping_pong(a, b, samples, n, out) == 0)
			print(out, samples);
		else
			printf("error: %.*s: %s\n", (int)strcspn(text, "\n"), text, errno ? strerror(errno) : "not understood");
		fflush(stdout);
	}
	return 0;
}
