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

/** Not read with the configuration: commands need no keys, and may not be allowed to read them. */
export interface Certificates {
  /** `null`: no TLS. */
  readonly listen: ServerMaterial | null;
  readonly admin: ServerMaterial | null;
  readonly upstream: ClientMaterial | null;
  /** By name, if they name any files. */
  readonly upstreams: Readonly<Record<string, ClientMaterial | null>>;
  /** For listeners, and those that identify the gateway to backends. */
  readonly terms: readonly Term[];
  readonly notes: readonly string[];
  readonly files: readonly string[];
}

/** Unix milliseconds. */
export interface Term {
  /** The section of the settings that names the file. */
  readonly setting: string;
  readonly file: string;
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Milliseconds before the end of a certificate that should have been renewed. */
const EXPIRY_NOTICE = 14 * 86_400_000;

/** Systems come with some 150. */
const MAX_TRUSTED = 1_000;

/** `now` in Unix milliseconds. */
export function warningsOf(
  { terms, notes }: Certificates,
  now: number,
): string[] {
  const warnings = terms.flatMap(
    (term) => termWarning(term, now, EXPIRY_NOTICE) ?? [],
  );
  // One file may serve both listeners.
  return [...new Set([...warnings, ...notes])];
}

/** `notice`: milliseconds before the end; `null`: the certificate holds longer. */
export function termWarning(
  { file, notBefore, notAfter }: Term,
  now: number,
  notice: number,
): string | null {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  if (notAfter <= now)
    return `the certificate in ${file} has ended on ${day(notAfter)}`;
  if (notBefore > now)
    return `the certificate in ${file} holds only from ${day(notBefore)} on`;
  return notAfter - now < notice
    ? `the certificate in ${file} ends on ${day(notAfter)}`
    : null;
}

/** Unix milliseconds. */
export function firstEnd({ terms }: Certificates): number {
  return Math.min(
    ...terms.map(({ notAfter }) => notAfter),
    Number.POSITIVE_INFINITY,
  );
}

/** Throws ConfigError with every mistake. */
export function readCertificates(config: Config): Certificates {
  const reader = createReader(config);
  const listen = reader.server('listen.tls', {
    ...config.listen.tls,
    clientCa: null,
  });
  const admin = reader.server('admin.tls', {
    ...config.admin.tls,
    minVersion: 'TLSv1.2',
  });
  const upstream = reader.client('upstream.tls', config.upstream.tls);
  const all = Object.entries(config.upstreams).map(
    ([name, { tls }]): [string, ClientMaterial | null] => [
      name,
      // Inherited files are reported once.
      sameFiles(tls, config.upstream.tls)
        ? upstream
        : reader.client(`upstreams.${name}.tls`, tls),
    ],
  );
  // An upstream without files that is added or removed is not a change of certificates.
  const upstreams = Object.fromEntries(
    all.filter(([, material]) => material !== null),
  );
  // The exporter of spans reads its files itself, once.
  const tracing = createReader(config);
  const { exporter, endpoint, tracesEndpoint } = config.tracing;
  if (exporter !== 'none' && (endpoint ?? tracesEndpoint) !== null)
    tracing.collector(config.tracing);
  const problems = [...reader.problems, ...tracing.problems];
  if (problems.length > 0) throw new ConfigError(problems);
  const { terms, notes, files } = reader;
  return Object.freeze({
    listen,
    admin,
    upstream,
    upstreams,
    terms,
    notes,
    files,
  });
}

const sameFiles = (one: ClientFiles, other: ClientFiles): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

type ServerFiles = Config['admin']['tls'] & Pick<ServerMaterial, 'minVersion'>;

type ClientFiles = Config['upstream']['tls'];

function createReader(config: Config) {
  const problems: Problem[] = [];
  const files: string[] = [];
  const terms: Term[] = [];
  const notes: string[] = [];

  /** `null` without a certificate, or if it is invalid. */
  function pair(
    section: string,
    cert: string | null,
    key: string | null,
    names = ['cert', 'key'],
  ): Pair | null {
    if (cert === null && key === null) return null;
    const [certSetting, keySetting] = names.map(
      (name) => `${section}.${name}`,
    ) as [string, string];
    if (cert === null || key === null) {
      const [given, missing] =
        cert === null ? [keySetting, certSetting] : [certSetting, keySetting];
      blame(given, `needs ${named(missing)} beside it`);
      return null;
    }
    const chain = read(certSetting, cert, certificatesIn);
    const own = read(keySetting, key, keyIn);
    if (chain === null || own === null) return null;
    const [leaf] = chain.value as [X509Certificate];
    if (!leaf.checkPrivateKey(own.value)) {
      blame(
        keySetting,
        'the private key in its file does not belong to the certificate beside it',
      );
      return null;
    }
    const [notBefore, notAfter] = [
      Date.parse(leaf.validFrom),
      Date.parse(leaf.validTo),
    ];
    terms.push({ setting: section, file: cert, notBefore, notAfter });
    if ((statSync(key).mode & 0o004) !== 0)
      notes.push(`${keySetting}: everybody on this machine can read its file`);
    return {
      file: cert,
      cert: chain.text,
      key: own.text,
      names: namesIn(leaf),
      notBefore,
      notAfter,
    };
  }

  /** OpenSSL has rules of its own, such as for the length of keys. */
  function tryOut(setting: string, make: () => unknown): void {
    try {
      make();
    } catch (error) {
      const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
      blame(setting, `cannot be used for TLS (${code})`);
    }
  }

  function read<T>(
    setting: string,
    file: string,
    parse: (text: string) => T,
  ): { text: string; value: T } | null {
    files.push(file);
    try {
      const text = readTextFile(file);
      return { text, value: parse(text) };
    } catch (error) {
      if (!(error instanceof UnreadableFile || error instanceof UnfitPem))
        throw error;
      // The path may be a misplaced key.
      const which = /[.]key$|Key$/.test(setting)
        ? 'the file that it names'
        : file;
      blame(setting, `${which} ${error.message}`);
      return null;
    }
  }

  function blame(setting: string, message: string): void {
    const origin = sourceOf(
      config,
      setting.startsWith('upstreams.')
        ? 'upstreams'
        : setting.replace(/\[.*/, ''),
    );
    const inFile = origin.kind === 'file';
    const source =
      origin.kind === 'environment'
        ? origin.name
        : inFile
          ? origin.file
          : setting;
    const place = {
      position: inFile ? origin.position : null,
      path: inFile ? setting : '',
    };
    problems.push({ source, place, message });
  }

  return {
    problems,
    files,
    terms,
    notes,
    server(
      setting: string,
      { cert, key, certificates, minVersion, clientCa }: ServerFiles,
    ): ServerMaterial | null {
      const first = pair(setting, cert, key);
      const more = certificates.map((one, i) =>
        pair(`${setting}.certificates[${i}]`, one.cert, one.key),
      );
      const trusted =
        clientCa === null
          ? null
          : read(`${setting}.clientCa`, clientCa, certificatesIn);
      const pairs = [first, ...more].filter((one) => one !== null);
      if (pairs.length === 0) {
        if (clientCa !== null && cert === null)
          blame(
            `${setting}.clientCa`,
            `needs ${named(`${setting}.cert`)} beside it`,
          );
        return null;
      }
      const material = { pairs, minVersion, clientCa: trusted?.text ?? null };
      tryOut(`${setting}.${cert === null ? 'certificates' : 'cert'}`, () => {
        const { usual } = serverTls(material);
        createSecureContext(usual);
      });
      return material;
    },
    client(
      setting: string,
      { ca, cert, key, serverName }: ClientFiles,
    ): ClientMaterial | null {
      if (ca === null && cert === null && key === null && serverName === null)
        return null;
      const trusted =
        ca === null ? null : read(`${setting}.ca`, ca, certificatesIn);
      const own = pair(setting, cert, key);
      const material = {
        ca: trusted?.text ?? null,
        cert: own?.cert ?? null,
        key: own?.key ?? null,
        serverName,
      };
      tryOut(`${setting}.cert`, () => clientTls(material));
      return material;
    },
    collector({ certificate, clientCertificate, clientKey }: Tracing): void {
      if (certificate !== null)
        read('tracing.certificate', certificate, (pem) =>
          certificatesIn(pem, MAX_TRUSTED),
        );
      pair('tracing', clientCertificate, clientKey, [
        'clientCertificate',
        'clientKey',
      ]);
    },
  };
}

function named(setting: string): string {
  const variable = variableOf(setting);
  return variable === undefined ? setting : `${setting} (${variable})`;
}
