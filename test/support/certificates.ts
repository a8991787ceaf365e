import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../runner/programs.ts';

/** A private certificate authority that nothing on the machine trusts. Remove it after use. */
export class Authority {
  readonly #folder = mkdtempSync(join(tmpdir(), 'authority-'));
  readonly file = join(this.#folder, 'ca.crt');

  constructor() {
    this.#make('ca', [
      '-subj',
      '/CN=private CA of a test',
      '-addext',
      'keyUsage=critical,keyCertSign',
    ]);
  }

  get pem(): string {
    return readFileSync(this.file, 'utf8');
  }

  /** `names`: `DNS:a.example`, `IP:127.0.0.1`. */
  redisArgs(port: number, names: string): string[] {
    const { cert, key } = this.issue(`redis-${port}`, names);
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', this.file];
    return [
      '--tls-port',
      `${port}`,
      ...files,
      '--tls-auth-clients',
      'no',
      '--tls-replication',
      'yes',
    ];
  }

  issue(name: string, names: string, days = 1): { cert: string; key: string } {
    const signed = ['-CA', this.file, '-CAkey', join(this.#folder, 'ca.key')];
    const about = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`];
    this.#make(name, [...about, ...signed], days);
    return { cert: join(this.#folder, `${name}.crt`), key: join(this.#folder, `${name}.key`) };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #make(name: string, args: readonly string[], days = 1): void {
    const pair = [
      '-keyout',
      join(this.#folder, `${name}.key`),
      '-out',
      join(this.#folder, `${name}.crt`),
    ];
    const kind = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      `${days}`,
    ];
    execFileSync(program('openssl'), ['req', '-x509', ...kind, ...pair, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }
}
