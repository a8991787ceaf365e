import type { RedisSettings } from '../../config/config.ts';

/** Whether waiting cannot help at a start. */
export function isFinal(error: unknown): boolean {
  return isRefusal(error) || /ECONNREFUSED|ENOTFOUND/.test(messages(error));
}

/** Whether somebody must change something before this connection can be used. */
export function isRefusal(error: unknown): boolean {
  return /WRONGPASS|NOAUTH|NOPERM|invalid password|DB index|cluster support disabled|certificate/i.test(
    messages(error),
  );
}

/** How OpenSSL says that it does not know who issued a certificate. */
const UNKNOWN_ISSUER = /self-signed certificate|unable to (get|verify)\b.*certificate/i;

/** Says what is wrong in the words of the settings, and never with the password of the URL. */
export function explain(settings: RedisSettings, error: unknown): string {
  const text = messages(error);
  const where = new URL(settings.url).host;
  const [who, setting] = /All sentinels/.test(text)
    ? [`the Sentinel at ${where}`, 'redis.sentinelPassword']
    : [`Redis at ${where}`, 'redis.url'];
  if (/WRONGPASS|invalid password/i.test(text)) return `${who} refuses the user or password: check ${setting}`;
  if (/NOAUTH/.test(text)) return `${who} wants a password: put it into ${setting}`;
  if (UNKNOWN_ISSUER.test(text))
    return `cannot trust the certificate of ${who} (${text}): name its CA's file in NODE_EXTRA_CA_CERTS`;
  if (/cluster support disabled/i.test(text)) return `Redis at ${where} is no Cluster: set redis.topology`;
  return `cannot use Redis at ${where}: ${text}`;
}

/** The text of an error. A Cluster's has that of its node in `lastNodeError`; a refused connection may have a code only. */
export function messages(error: unknown): string {
  const { message, code, lastNodeError } = Object(error) as {
    message?: string;
    code?: string;
    lastNodeError?: unknown;
  };
  if (message === undefined) return String(error ?? '');
  const own = [message, code].filter((part) => part && !(part === code && message.includes(part))).join(' ');
  return lastNodeError ? `${own} (${messages(lastNodeError)})` : own;
}
