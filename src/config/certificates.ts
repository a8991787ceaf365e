import type { X509Certificate } from 'node:crypto';
import { statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import {
  type ClientMaterial,
  certificatesIn,
  clientTls,
  keyIn,
  namesIn,
  type Pair,
  type ServerMaterial,
  serverTls,
  UnfitPem,
} from '@storegate/http1/tls';
import type { Config, Tracing } from './config.ts';
import { sourceOf } from './describe.ts';
import { variableOf } from './environment.ts';
import { ConfigError, type Problem } from './problems/problems.ts';
import { readTextFile, UnreadableFile } from './yaml/text-file.ts';

/**
 * What the files for TLS have, as far as settings name any. Read for whoever serves, and not with the configuration: commands need
 * no keys, and may not be allowed to read them.
 */
export interface Certificates {
  /** `null`: the listener does not speak TLS. */
  readonly listen: ServerMaterial | null;
  readonly admin: ServerMaterial | null;
  readonly upstream: ClientMaterial | null;
  /** Of the others by their names, as far as they name any. */
  readonly upstreams: Readonly<Record<string, ClientMaterial | null>>;
  /** When the certificates of the gateway hold: those of listeners, and those by which stores know it. */
  readonly terms: readonly Term[];
  /** What is no mistake, and better told. */
  readonly notes: readonly string[];
  /** All files, to be watched. */
  readonly files: readonly string[];
}

/** Between when and when a certificate holds, Unix milliseconds. */
export interface Term {
  readonly file: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Milliseconds before the end of a certificate from which on it should have been renewed. */
const EXPIRY_NOTICE = 14 * 86_400_000;

/** Certificates of a file of those that receivers of spans are known by: systems come with some 150. */
const MAX_TRUSTED = 1_000;

/** What is better told: certificates that do not hold, or soon will not, and the notes. `now` in Unix milliseconds. */
export function warningsOf({ terms, notes }: Certificates, now: number): string[] {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  const about = ({ file, notBefore, notAfter }: Term): string[] => {
    if (notAfter <= now) return [`the certificate in ${file} has ended on ${day(notAfter)}`];
    if (notBefore > now) return [`the certificate in ${file} holds only from ${day(notBefore)} on`];
    return notAfter - now < EXPIRY_NOTICE ? [`the certificate in ${file} ends on ${day(notAfter)}`] : [];
  };
  // One file may serve both listeners.
  return [...new Set([...terms.flatMap(about), ...notes])];
}

/** When the first of all certificates ends, Unix milliseconds. */
export function firstEnd({ terms }: Certificates): number {
  return Math.min(...terms.map(({ notAfter }) => notAfter), Number.POSITIVE_INFINITY);
}

/** Reads and checks all files for TLS. Throws ConfigError with every mistake. */
export function readCertificates(config: Config): Certificates {
  const reader = new Reader(config);
  const listen = reader.server('listen.tls', { ...config.listen.tls, clientCa: null });
  const admin = reader.server('admin.tls', { ...config.admin.tls, minVersion: 'TLSv1.2' });
  const upstream = reader.client('upstream.tls', config.upstream.tls);
  const all = Object.entries(config.upstreams).map(([name, { tls }]): [string, ClientMaterial | null] => [
    name,
    // What is inherited is told once.
    sameFiles(tls, config.upstream.tls) ? upstream : reader.client(`upstreams.${name}.tls`, tls),
  ]);
  // An upstream without files that comes or goes is no change of certificates.
  const upstreams = Object.fromEntries(all.filter(([, material]) => material !== null));
  const problems = [...reader.problems, ...tracingErrors(config)];
  if (problems.length > 0) throw new ConfigError(problems);
  const { terms, notes, files } = reader;
  return Object.freeze({ listen, admin, upstream, upstreams, terms, notes, files });
}

/** What is wrong with the files for the receiver of spans. It reads them itself, once. */
function tracingErrors(config: Config): Problem[] {
  const { exporter, endpoint, tracesEndpoint, ...files } = config.tracing;
  if (exporter === 'none' || (endpoint ?? tracesEndpoint) === null) return [];
  const reader = new Reader(config);
  reader.receiver(files);
  return reader.problems;
}

const sameFiles = (one: ClientFiles, other: ClientFiles): boolean => JSON.stringify(one) === JSON.stringify(other);

type ServerFiles = Config['admin']['tls'] & Pick<ServerMaterial, 'minVersion'>;

type ClientFiles = Config['upstream']['tls'];

type TracingFiles = Pick<Tracing, 'certificate' | 'clientCertificate' | 'clientKey'>;

/** The settings that name the files of a certificate and its key. */
interface PairSettings {
  readonly cert: string;
  readonly key: string;
}

const pairOf = (setting: string): PairSettings => ({ cert: `${setting}.cert`, key: `${setting}.key` });

/** Collects what is wrong with the files that settings name. */
class Reader {
  readonly problems: Problem[] = [];
  readonly files: string[] = [];
  readonly terms: Term[] = [];
  readonly notes: string[] = [];
  readonly #config: Config;

  constructor(config: Config) {
    this.#config = config;
  }

  /** `null` if there is no certificate. */
  server(setting: string, { cert, key, certificates, minVersion, clientCa }: ServerFiles): ServerMaterial | null {
    const first = this.#pair(pairOf(setting), cert, key);
    const more = certificates.map((one, i) => this.#pair(pairOf(`${setting}.certificates[${i}]`), one.cert, one.key));
    const trusted = clientCa === null ? null : this.#read(`${setting}.clientCa`, clientCa, certificatesIn);
    const pairs = [first, ...more].filter((pair) => pair !== null);
    if (pairs.length === 0) {
      if (clientCa !== null && cert === null)
        this.#blame(`${setting}.clientCa`, `needs ${named(`${setting}.cert`)} beside it`);
      return null;
    }
    const material = { pairs, minVersion, clientCa: trusted?.text ?? null };
    this.#tryOut(`${setting}.${cert === null ? 'certificates' : 'cert'}`, () => {
      const { usual } = serverTls(material);
      createSecureContext(usual);
    });
    return material;
  }

  /** `null` if nothing is set. */
  client(setting: string, { ca, cert, key, serverName }: ClientFiles): ClientMaterial | null {
    if (ca === null && cert === null && key === null && serverName === null) return null;
    const trusted = ca === null ? null : this.#read(`${setting}.ca`, ca, certificatesIn);
    const own = this.#pair(pairOf(setting), cert, key);
    const material = { ca: trusted?.text ?? null, cert: own?.cert ?? null, key: own?.key ?? null, serverName };
    this.#tryOut(`${setting}.cert`, () => clientTls(material));
    return material;
  }

  receiver({ certificate, clientCertificate, clientKey }: TracingFiles): void {
    if (certificate !== null) this.#read('tracing.certificate', certificate, (pem) => certificatesIn(pem, MAX_TRUSTED));
    this.#pair({ cert: 'tracing.clientCertificate', key: 'tracing.clientKey' }, clientCertificate, clientKey);
  }

  /** A certificate with its key; `null` if there is none, or something is wrong with it. */
  #pair(settings: PairSettings, cert: string | null, key: string | null): Pair | null {
    if (cert === null && key === null) return null;
    if (cert === null || key === null) {
      const [given, missing] = cert === null ? [settings.key, settings.cert] : [settings.cert, settings.key];
      this.#blame(given, `needs ${named(missing)} beside it`);
      return null;
    }
    const chain = this.#read(settings.cert, cert, certificatesIn);
    const own = this.#read(settings.key, key, keyIn);
    if (chain === null || own === null) return null;
    const [leaf] = chain.value as [X509Certificate];
    if (!leaf.checkPrivateKey(own.value)) {
      this.#blame(settings.key, 'the private key in its file does not belong to the certificate beside it');
      return null;
    }
    const [notBefore, notAfter] = [Date.parse(leaf.validFrom), Date.parse(leaf.validTo)];
    this.terms.push({ file: cert, notBefore, notAfter });
    if (isOpenToAll(key)) this.notes.push(`${settings.key}: everybody on this machine can read its file`);
    return { file: cert, cert: chain.text, key: own.text, names: namesIn(leaf), notBefore, notAfter };
  }

  /** OpenSSL has rules of its own, such as for the length of keys. */
  #tryOut(setting: string, make: () => unknown): void {
    try {
      make();
    } catch (error) {
      const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
      this.#blame(setting, `cannot be used for TLS (${code})`);
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
      const which = /[.]key$|Key$/.test(setting) ? 'the file that it names' : file;
      this.#blame(setting, `${which} ${error.message}`);
      return null;
    }
  }

  #blame(setting: string, message: string): void {
    // Of an entry of a list or map the place of the whole is known.
    const origin = sourceOf(this.#config, setting.startsWith('upstreams.') ? 'upstreams' : setting.replace(/\[.*/, ''));
    const inFile = origin.kind === 'file';
    const source = origin.kind === 'environment' ? origin.name : inFile ? origin.file : setting;
    const place = { position: inFile ? origin.position : null, path: inFile ? setting : '' };
    this.problems.push({ source, place, message });
  }
}

/** With the variable that may give it too, for who sets none of it in a file. */
function named(setting: string): string {
  const variable = variableOf(setting);
  return variable === undefined ? setting : `${setting} (${variable})`;
}

function isOpenToAll(file: string): boolean {
  return (statSync(file).mode & 0o004) !== 0;
}
