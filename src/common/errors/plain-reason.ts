import { ExpectedError } from '../expected-error.ts';

/** What errors of the system and of libraries mean to an operator, by their text. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [/WRONGPASS|NOAUTH|invalid password/i, 'the user or password is refused'],
  [/NOPERM/, 'the Redis user lacks a right'],
  [/READONLY/, 'Redis is a read-only replica'],
  [/LOADING/, 'Redis is loading its data'],
  [/MISCONF|\bOOM\b/, 'Redis cannot store more'],
  [/CLUSTERDOWN/, 'the Redis Cluster is down'],
  [/without its data/, 'Redis may have come up without its data'],
  [/altnames/i, 'the certificate is for another host name'],
  [/certificate/i, 'the certificate is not trusted'],
  [/sentinels are unreachable/i, 'no Sentinel can be reached'],
  [/ENOTFOUND|EAI_AGAIN/, 'the host name is unknown'],
  [/EHOSTUNREACH|ENETUNREACH/, 'the network is unreachable'],
  [/ECONNREFUSED/, 'the connection is refused'],
  [/RESP type/, 'what responds is not Redis'],
  [/ENOSPC|EDQUOT|no space|is full/, 'the disk is full'],
  [/EACCES|EPERM/, 'the permission is missing'],
  [/EROFS|readonly/, 'the disk is read-only'],
  [/ENOENT|unable to open/, 'a file or folder is missing'],
  [/EMFILE|ENFILE/, 'too many files are open'],
  [/EIO|disk I\/O/, 'the disk reports an error'],
  [
    /ECONNRESET|EPIPE|UND_ERR_SOCKET|closed|hang up|writeable|ended/i,
    'the connection was closed',
  ],
  [
    /ETIMEDOUT|timed? ?out|(did|does) not respond|silent/i,
    'no response in time',
  ],
];

/** Why something failed, in words without those of libraries. The log has the error. */
export function plainReason(
  error: unknown,
  otherwise = 'the log has the error',
): string {
  if (error instanceof ExpectedError) return error.message;
  const text = textOf(error);
  const found = REASONS.find(([pattern]) => pattern.test(text));
  return found?.[1] ?? otherwise;
}

/** With the texts of its causes, the innermost first. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, message } = error;
  const { code = '' } = error as NodeJS.ErrnoException;
  return `${cause === undefined ? '' : textOf(cause)} ${code} ${message}`;
}
