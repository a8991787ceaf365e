import { domainToASCII } from 'node:url';

/** `''`: not a host name. A wildcard keeps its `*.`. */
export function asciiHost(host: string): string {
  const [, wildcard = '', name = ''] = /^(\*\.)?(.*)$/s.exec(host)!;
  const ascii = domainToASCII(name.replace(/\.$/, ''));
  return ascii === '' ? '' : wildcard + ascii;
}
