/*
 * Loaded before the C library, this makes the files below $LOST_POWER_FROM those of a disk that loses what was not synced.
 * The files themselves stay as the process knows them. Beside them, $LOST_POWER_TO has what is on the disk:
 *
 *   i/<file>   the bytes of a file at its last fsync or fdatasync
 *   d/<file>   the entries of a folder at its last fsync, as lines "<file> <name>"
 *
 * where <file> is the number of the inode and when it was made, because numbers are used again. A new, renamed or removed name
 * is on the disk only once its folder was synced. $LOST_POWER_DEAF set: nothing ever reaches the disk.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static int name_of(int at, const char *path, int flags, char *name, size_t size) {
  struct statx info;
  if (statx(at, path, flags, STATX_INO | STATX_BTIME, &info) != 0) return -1;
  unsigned long long made = (unsigned long long)info.stx_btime.tv_sec * 1000000000ULL + info.stx_btime.tv_nsec;
  snprintf(name, size, "%llu.%llu", (unsigned long long)info.stx_ino, made);
  return 0;
}

static void fail(const char *what) {
  perror(what);
  abort();
}

/* A process that is killed in between must not leave half a file. */
static void put(const char *made, const char *kind, const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s/%s", getenv("LOST_POWER_TO"), kind, name);
  if (rename(made, path) != 0) fail("lost-power: rename");
}

static void keep_file(int fd, const char *made, const char *name) {
  char own[64];
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  int from = open(own, O_RDONLY);
  int to = open(made, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (from < 0 || to < 0) fail("lost-power: open");
  ssize_t sent;
  while ((sent = sendfile(to, from, NULL, 1 << 24)) > 0) {
  }
  if (sent < 0) fail("lost-power: copy");
  close(from);
  close(to);
  put(made, "i", name);
}

static void keep_folder(const char *path, const char *made, const char *name) {
  DIR *folder = opendir(path);
  FILE *to = fopen(made, "w");
  if (!folder || !to) fail("lost-power: folder");
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char file[64];
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (name_of(dirfd(folder), entry->d_name, AT_SYMLINK_NOFOLLOW, file, sizeof file) != 0) continue;
    fprintf(to, "%s %s\n", file, entry->d_name);
  }
  closedir(folder);
  if (fclose(to) != 0) fail("lost-power: folder");
  put(made, "d", name);
}

static void keep(int fd) {
  const char *from = getenv("LOST_POWER_FROM");
  if (!from || !getenv("LOST_POWER_TO") || getenv("LOST_POWER_DEAF")) return;
  char own[64], path[PATH_MAX], made[PATH_MAX], name[64];
  snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(own, path, sizeof path - 1);
  if (length < 0) return;
  path[length] = 0;
  if (strncmp(path, from, strlen(from)) != 0) return;
  struct stat info;
  if (fstat(fd, &info) != 0 || name_of(fd, "", AT_EMPTY_PATH, name, sizeof name) != 0) return;
  pthread_mutex_lock(&turn);
  snprintf(made, sizeof made, "%s/made", getenv("LOST_POWER_TO"));
  if (S_ISDIR(info.st_mode)) keep_folder(path, made, name);
  else if (S_ISREG(info.st_mode)) keep_file(fd, made, name);
  pthread_mutex_unlock(&turn);
}

static int sync_with(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int result = real(fd);
  if (result == 0) keep(fd);
  return result;
}

int fsync(int fd) { return sync_with("fsync", fd); }
int fdatasync(int fd) { return sync_with("fdatasync", fd); }
