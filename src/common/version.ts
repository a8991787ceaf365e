import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** The version in package.json, such as `0.1.0`. */
export function readVersion(): string {
  const file = resolve(import.meta.dirname, '../../package.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
