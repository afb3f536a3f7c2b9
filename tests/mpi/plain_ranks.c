/* An MPI program that knows nothing of adaptyst: plain_ranks WAY. What it calls is counted by calling.py. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;

static void sleep_ms(long ms) {
  struct timespec left = {ms / 1000, ms % 1000 * 1000000};
  while (nanosleep(&left, &left) != 0) {}
}

/* Rank 2 comes 20 ms late, five times. */
static void meet(void) {
  double own = rank, all = 0;
  for (int step = 0; step != 5; ++step) {
    if (rank == 2) sleep_ms(20);
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* Each sends 3 messages of 1,000 ints to the next one. */
static void send_around(void) {
  static int sent[1000], received[1000];
  for (int step = 0; step != 3; ++step) {
    MPI_Request requests[2];
    MPI_Irecv(received, 1000, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 1000, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

static void use_many_communicators(void) {
  for (int step = 0; step != 10000; ++step) {
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Barrier(made);
    MPI_Comm_free(&made);
  }
}

/* A thread for each communicator. */
static void* meet_alone(void* communicator) {
  for (int step = 0; step != 100; ++step) MPI_Barrier(*(MPI_Comm*)communicator);
  return NULL;
}

static void use_threads(void) {
  pthread_t threads[4];
  MPI_Comm made[4];
  for (int thread = 0; thread != 4; ++thread) MPI_Comm_dup(MPI_COMM_WORLD, &made[thread]);
  for (int thread = 0; thread != 4; ++thread) pthread_create(&threads[thread], NULL, &meet_alone, &made[thread]);
  for (int thread = 0; thread != 4; ++thread) pthread_join(threads[thread], NULL);
  for (int thread = 0; thread != 4; ++thread) MPI_Comm_free(&made[thread]);
}

/* Each rank sends to the next one only, and the last one comes late: the others have gone by then, and no rank waits for it. */
static void exchange_sparsely(void) {
  static int sent[16], received[16], send_counts[16], receive_counts[16], offsets[16];
  send_counts[(rank + 1) % size] = 1;
  receive_counts[(rank + size - 1) % size] = 1;
  if (rank == size - 1) sleep_ms(100);
  MPI_Alltoallv(sent, send_counts, offsets, MPI_INT, received, receive_counts, offsets, MPI_INT, MPI_COMM_WORLD);
}

/* From rank 1 of the even ranks to the odd ones, of which one has the same number. Only the root knows counts. */
static void scatter_between_groups(void) {
  static int sent[16], received[1], counts[16], offsets[16];
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank % 2 == 0 ? 1 : 0, 9, &both);
  int in_own = 0;
  MPI_Comm_rank(own, &in_own);
  for (int rank = 0; rank != 16; ++rank) counts[rank] = 1;
  if (rank % 2 != 0) MPI_Scatterv(NULL, NULL, NULL, MPI_INT, received, 1, MPI_INT, 1, both);
  else if (in_own == 1) MPI_Scatterv(sent, counts, offsets, MPI_INT, NULL, 0, MPI_INT, MPI_ROOT, both);
  else MPI_Scatterv(NULL, NULL, NULL, MPI_INT, NULL, 0, MPI_INT, MPI_PROC_NULL, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&own);
}

static void spawn(char* program) {
  char way[] = "spawned";
  char* arguments[] = {way, NULL};
  MPI_Comm children;
  MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  MPI_Comm_disconnect(&children);
}

int main(int count, char** arguments) {
  const char* way = count > 1 ? arguments[1] : "meet";
  int provided = 0;
  if (strcmp(way, "threads") == 0) {
    MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) return 3;
  } else {
    MPI_Init(&count, &arguments);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(way, "threads") == 0) use_threads();
  if (strcmp(way, "communicators") == 0) use_many_communicators();
  if (strcmp(way, "sparse") == 0) exchange_sparsely();
  if (strcmp(way, "groups") == 0) scatter_between_groups();
  if (strcmp(way, "spawn") == 0) spawn(arguments[0]);
  if (strcmp(way, "spawned") == 0) {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    MPI_Comm_disconnect(&parent);
  }
  if (strcmp(way, "meet") == 0 || strcmp(way, "exit") == 0 || strcmp(way, "abort") == 0) {
    meet();
    send_around();
  }
  if (strcmp(way, "environment") == 0 && system("env") != 0) return 3;
  if (strcmp(way, "exit") == 0) exit(7);
  if (strcmp(way, "abort") == 0) {
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 5);
    sleep_ms(60000);
  }
  MPI_Finalize();
  return 0;
}
