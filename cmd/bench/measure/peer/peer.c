// What `make bench-measure` compares the kernels of homenode measure with: the same pointer chase and the same ping-pong
// in C. It is compiled when the benchmark runs (cc -O2 -pthread), reads one command a line and answers each
// with one line of numbers, or with a line that begins with "error".
//
//	pin CPU                    run on this processor from now on
//	share FILE AT BYTES HUGE   map the file at this address, in huge pages (1) or small ones (0); gives back what was mapped before
//	begin OFFSET               follow the pointers from here on
//	walk LOADS SAMPLES         nanoseconds of one load, so many samples
//	where                      the offset that was reached
//	swap A B OFFSET SAMPLES TRIPS  nanoseconds of one way between two processors, so many samples, of the word at this offset
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

// Memory of both contenders, at the same address in both, so that both follow the same pointers through the same pages.

static char *memory;
static size_t size;

static int share(const char *path, char *address, size_t bytes, int huge)
{
	if (memory && munmap(memory, size))
		return -1;
	memory = NULL;
	int fd = open(path, O_RDWR);
	if (fd < 0)
		return -1;
	char *p = mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return -1;
	memory = p;
	size = bytes;
	if (madvise(memory, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && huge)
		return -1;
	for (size_t i = 0; i < size; i += 4096)
		*(volatile char *)(memory + i);
	return 0;
}

// The chase.

static void *at;

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

static uint32_t *word;
static struct {
	char before[128];
	uint32_t here;
	char after[124];
} __attribute__((aligned(128))) table;

static void meet(void)
{
	__atomic_add_fetch(&table.here, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&table.here, __ATOMIC_SEQ_CST) < 2)
		;
}

static void swap(long times, uint32_t from, uint32_t to)
{
	uint32_t *w = word; // not read anew before each try, which would make tries rarer
	for (; times > 0; times--) {
		uint32_t found;
		do
			found = from;
		while (!__atomic_compare_exchange_n(w, &found, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
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
	table.here = *word = 0;
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
		char path[128];
		void *address;
		size_t bytes;
		int a, b;
		long n, samples;
		errno = 0;
		if (sscanf(text, "pin %d", &a) == 1 && pin(a) == 0)
			printf("0\n");
		else if (sscanf(text, "share %127s %p %zu %d", path, &address, &bytes, &a) == 4 && share(path, address, bytes, a) == 0)
			printf("0\n");
		else if (sscanf(text, "begin %zu", &bytes) == 1 && memory && bytes < size) {
			at = memory + bytes;
			printf("0\n");
		} else if (strcmp(text, "where\n") == 0 && at)
			printf("%zu\n", (size_t)((char *)at - memory));
		else if (sscanf(text, "walk %ld %ld", &n, &samples) == 2 && at && samples > 0 && samples <= MOST) {
			for (long i = 0; i < samples; i++)
				out[i] = walk(n);
			print(out, samples);
		} else if (sscanf(text, "swap %d %d %zu %ld %ld", &a, &b, &bytes, &samples, &n) == 5 && a != b && memory && bytes < size &&
			   samples > 0 && samples <= MOST && n > 0) {
			word = (uint32_t *)(memory + bytes);
			if (ping_pong(a, b, samples, n, out) == 0)
				print(out, samples);
			else
				printf("error: %.*s: a processor takes no thread\n", (int)strcspn(text, "\n"), text);
		} else
			printf("error: %.*s: %s\n", (int)strcspn(text, "\n"), text, errno ? strerror(errno) : "not understood");
		fflush(stdout);
	}
	return 0;
}
