import { isIPv4, isIPv6 } from 'node:net';

type Format = (text: string) => boolean;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME =
  /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const LABEL = /^[0-9a-z](?:[0-9a-z-]{0,61}[0-9a-z])?$/i;
const ATOM = /^[0-9a-z!#$%&'*+/=?^_`{|}~-]+$/i;
const QUOTED = /^"(?:[ !#-[\]-~]|\\[ -~])*"$/;
const BASE64 = /^[0-9A-Za-z+/]*={0,2}$/;
const URI =
  /^([A-Za-z][A-Za-z0-9+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s;
const URI_CHARACTERS = /^(?:[0-9A-Za-z._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*$/;
const AUTHORITY = /^(?:([^@]*)@)?(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/;
const HOST = /^(?:[0-9A-Za-z._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$/;

/** RFC 3339 `full-date` in the calendar. */
export function isDate(text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? [];
  if (day === undefined) return false;
  const leap =
    Number(year) % 4 === 0 &&
    (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
  const length = month === '02' && leap ? 29 : (DAYS[Number(month) - 1] ?? 0);
  return Number(day) >= 1 && Number(day) <= length;
}

/** RFC 3339 `full-time`. A leap second is only valid at 23:59:60 UTC (RFC 3339 appendix D). */
function isTime(text: string): boolean {
  const [
    whole,
    hour,
    minute,
    second,
    sign,
    offsetHour = '00',
    offsetMinute = '00',
  ] = TIME.exec(text) ?? [];
  if (whole === undefined) return false;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return false;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60)
    return false;
  if (second !== '60') return true;
  const offset =
    (Number(offsetHour) * 60 + Number(offsetMinute)) * (sign === '-' ? -1 : 1);
  return (Number(hour) * 60 + Number(minute) - offset + 1440) % 1440 === 1439;
}

/** RFC 3339 `date-time`. */
export function isDateTime(text: string): boolean {
  return (
    (text[10] === 'T' || text[10] === 't') &&
    isDate(text.slice(0, 10)) &&
    isTime(text.slice(11))
  );
}

/** RFC 1123 section 2.1. */
function isHostname(text: string): boolean {
  return (
    text.length <= 253 && text.split('.').every((label) => LABEL.test(label))
  );
}

/** RFC 5321 section 4.1.2 `Mailbox`. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const local = text.slice(0, at);
  const domain = text.slice(at + 1);
  if (at < 1 || local.length > 64 || text.length > 254) return false;
  const isLocal =
    QUOTED.test(local) || local.split('.').every((atom) => ATOM.test(atom));
  return isLocal && (isHostname(domain) || isAddressLiteral(domain));
}

function isAddressLiteral(text: string): boolean {
  if (!text.startsWith('[') || !text.endsWith(']')) return false;
  const address = text.slice(1, -1);
  return (
    isIPv4(address) ||
    (address.startsWith('IPv6:') && isAddress6(address.slice(5)))
  );
}

/** RFC 4291. A zone (`%eth0`) is local to a machine and not part of an address. */
const isAddress6 = (text: string) => isIPv6(text) && !text.includes('%');

/** RFC 3986. */
function isUri(text: string): boolean {
  const [, scheme, authority, path, query = '', fragment = ''] =
    URI.exec(text) ?? [];
  if (scheme === undefined || path === undefined) return false;
  if (![path, query, fragment].every((part) => URI_CHARACTERS.test(part)))
    return false;
  return (
    authority === undefined ||
    (isAuthority(authority) && (path === '' || path.startsWith('/')))
  );
}

function isAuthority(text: string): boolean {
  const [, user = '', host] = AUTHORITY.exec(text) ?? [];
  if (
    host === undefined ||
    !URI_CHARACTERS.test(user) ||
    user.includes('/') ||
    user.includes('?')
  )
    return false;
  return host.startsWith('[') ? isAddress6(host.slice(1, -1)) : HOST.test(host);
}

/** RFC 4648 section 4, with padding. */
const isBase64 = (text: string) => text.length % 4 === 0 && BASE64.test(text);

const anything: Format = () => true;

/** `binary` and `password` have nothing to check. */
export const STRING_FORMATS: Readonly<Record<string, Format>> = {
  'date-time': isDateTime,
  date: isDate,
  time: isTime,
  uuid: (text) => UUID.test(text),
  email: isEmail,
  uri: isUri,
  hostname: isHostname,
  ipv4: isIPv4,
  ipv6: isAddress6,
  byte: isBase64,
  binary: anything,
  password: anything,
};
