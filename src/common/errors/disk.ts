/** SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN. */
const OF_DISK: readonly number[] = [8, 10, 13, 14];

/** Whether SQLite could not use its file. */
export function isOfDisk(error: unknown): boolean {
  const { errcode } = Object(error) as { errcode?: number };
  return errcode !== undefined && OF_DISK.includes(errcode & 0xff);
}
