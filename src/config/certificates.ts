import type { X509Certificate } from 'node:crypto';
import { type ClientMaterial, clientTls } from '../tls/client.ts';
import { certificatesIn, keyIn, UnfitPem } from '../tls/pem.ts';
import type { ClientTlsFiles, Config } from './config.ts';
import { sourceOf } from './describe.ts';
import { ConfigError, type Problem } from './problems/problems.ts';
import { readTextFile, UnreadableFile } from './yaml/text-file.ts';

/**
 * What the files for TLS have, as far as settings name any. Read for whoever serves, and not with the configuration: commands need
 * no keys, and may not be allowed to read them.
 */
export interface Certificates {
  readonly upstream: ClientMaterial | null;
  /** Of the others by their names. */
  readonly upstreams: Readonly<Record<string, ClientMaterial | null>>;
  /** All files, to be watched. */
  readonly files: readonly string[];
}

/** Reads and checks all files for TLS. Throws ConfigError with every mistake. */
export function readCertificates(config: Config): Certificates {
  const reader = new Reader(config);
  const upstream = reader.client('upstream.tls', config.upstream.tls);
  const upstreams = Object.fromEntries(
    Object.entries(config.upstreams).map(([name, { tls }]) => [
      name,
      // What is inherited is told once.
      sameFiles(tls, config.upstream.tls) ? upstream : reader.client(`upstreams.${name}.tls`, tls),
    ]),
  );
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  return Object.freeze({ upstream, upstreams, files: reader.files });
}

const sameFiles = (one: ClientTlsFiles, other: ClientTlsFiles): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Collects what is wrong with the files that settings name. */
class Reader {
  readonly problems: Problem[] = [];
  readonly files: string[] = [];
  readonly #config: Config;

  constructor(config: Config) {
    this.#config = config;
  }

  /** `null` if nothing is set. */
  client(setting: string, { ca, cert, key, serverName }: ClientTlsFiles): ClientMaterial | null {
    if (ca === null && cert === null && key === null && serverName === null) return null;
    const trusted = ca === null ? null : this.#read(`${setting}.ca`, ca, certificatesIn);
    const own = this.#pair(setting, cert, key);
    const material = { ca: trusted?.text ?? null, cert: own?.cert ?? null, key: own?.key ?? null, serverName };
    this.#tryOut(setting, () => clientTls(material));
    return material;
  }

  /** A certificate with its key; `null` if there is none, or something is wrong with it. */
  #pair(setting: string, cert: string | null, key: string | null): { cert: string; key: string } | null {
    if (cert === null && key === null) return null;
    if (cert === null || key === null) {
      const [given, missing] = cert === null ? ['key', 'cert'] : ['cert', 'key'];
      this.#blame(`${setting}.${given}`, `needs ${setting}.${missing} beside it`);
      return null;
    }
    const chain = this.#read(`${setting}.cert`, cert, certificatesIn);
    const own = this.#read(`${setting}.key`, key, keyIn);
    if (chain === null || own === null) return null;
    const [leaf] = chain.value as [X509Certificate];
    if (!leaf.checkPrivateKey(own.value)) {
      this.#blame(`${setting}.key`, 'the private key in its file does not belong to the certificate beside it');
      return null;
    }
    return { cert: chain.text, key: own.text };
  }

  /** OpenSSL has rules of its own, such as for the length of keys. */
  #tryOut(setting: string, make: () => unknown): void {
    try {
      make();
    } catch (error) {
      const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
      this.#blame(`${setting}.cert`, `cannot be used for TLS (${code})`);
    }
  }

  #read<T>(setting: string, file: string, parse: (text: string) => T): { text: string; value: T } | null {
    this.files.push(file);
    try {
      const text = readTextFile(file);
      return { text, value: parse(text) };
    } catch (error) {
      if (!(error instanceof UnreadableFile || error instanceof UnfitPem)) throw error;
      // Somebody may have put a key in place of its path.
      const which = setting.endsWith('.key') ? 'the file that it names' : file;
      this.#blame(setting, `${which} ${error.message}`);
      return null;
    }
  }

  #blame(setting: string, message: string): void {
    const origin = sourceOf(this.#config, setting.startsWith('upstreams.') ? 'upstreams' : setting);
    const inFile = origin.kind === 'file';
    const source = origin.kind === 'environment' ? origin.name : inFile ? origin.file : setting;
    const place = { position: inFile ? origin.position : null, path: inFile ? setting : '' };
    this.problems.push({ source, place, message });
  }
}
