import { plainReason } from '../../common/errors/plain-reason.ts';
import { ExpectedError } from '../../common/expected-error.ts';
import type { RedisSettings } from '../../config/config.ts';

/** The message describes in one sentence what to change. */
export class RedisError extends ExpectedError {
  override name = 'RedisError';
  /**
   * Whether Redis does not respond, or cannot serve yet. If false, its configuration must change.
   */
  readonly isUnreachable: boolean;

  constructor(
    message: string,
    options: ErrorOptions & { readonly isUnreachable?: boolean } = {},
  ) {
    super(message, options);
    this.isUnreachable = options.isUnreachable ?? false;
  }
}

/** Whether waiting cannot help at startup. */
export function isFinal(error: unknown): boolean {
  return isRefusal(error) || /ECONNREFUSED|ENOTFOUND/.test(messages(error));
}

/** Whether only a change of configuration helps. */
export function isRefusal(error: unknown): boolean {
  return /WRONGPASS|NOAUTH|NOPERM|invalid password|DB index|cluster support disabled|certificate/i.test(
    messages(error),
  );
}

/**
 * Whether Redis refuses a command: the user lacks the right to it, or the service does not have it.
 */
export function isReplyError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

const UNKNOWN_ISSUER =
  /self-signed certificate|unable to (get|verify)\b.*certificate/i;

/** Never contains the URL's password. */
export function explain(settings: RedisSettings, error: unknown): string {
  const text = messages(error);
  const { host: where, pathname } = new URL(settings.url);
  const [who, setting] = /All sentinels/.test(text)
    ? [`the Sentinel at ${where}`, 'redis.sentinelPassword']
    : [`Redis at ${where}`, 'redis.url'];
  if (/WRONGPASS|invalid password/i.test(text))
    return `${who} refuses the user or password: check ${setting}`;
  if (/NOAUTH/.test(text))
    return `${who} wants a password: put it into ${setting}`;
  if (/DB index/.test(text))
    return `${who} has no database ${pathname.slice(1)}: correct ${setting}`;
  if (UNKNOWN_ISSUER.test(text))
    return `cannot trust the certificate of ${who} (${text}): name its CA's file in NODE_EXTRA_CA_CERTS`;
  if (/cluster support disabled/i.test(text))
    return `Redis at ${where} is not a Cluster: set redis.topology`;
  return `cannot use Redis at ${where}: ${plainReason(error)}`;
}

/** Includes `lastNodeError` of a Cluster, or the code of a refused connection. */
export function messages(error: unknown): string {
  const { message, code, lastNodeError } = Object(error) as {
    message?: string;
    code?: string;
    lastNodeError?: unknown;
  };
  if (message === undefined) return String(error ?? '');
  const own = [message, code]
    .filter((part) => part && !(part === code && message.includes(part)))
    .join(' ');
  return lastNodeError ? `${own} (${messages(lastNodeError)})` : own;
}
