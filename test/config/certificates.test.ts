import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { firstEnd, readCertificates, warningsOf } from '../../src/config/certificates.ts';
import { loadConfig } from '../../src/config/load.ts';
import { program } from '../runner/programs.ts';
import { Authority } from '../support/certificates.ts';
import { folderWith } from './folder.ts';
import { mistakesOf } from './mistakes.ts';

let authority: Authority;
let good: { cert: string; key: string };
let other: { cert: string; key: string };
beforeAll(() => {
  authority = new Authority();
  good = authority.issue('good', 'DNS:good.example');
  other = authority.issue('other', 'DNS:other.example');
});
afterAll(() => authority.remove());

function read(tls: Record<string, unknown>, files: Readonly<Record<string, string>> = {}) {
  const cwd = folderWith({ 'gateway.yaml': JSON.stringify({ upstream: { tls } }), ...files });
  return readCertificates(loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml' }, cwd }));
}

test('without settings no file is read', () => {
  expect(read({})).toEqual({
    listen: null,
    admin: null,
    upstream: null,
    upstreams: {},
    terms: [],
    notes: [],
    files: [],
  });
});

test('all files are read and watched', () => {
  const { upstream, files } = read({ ca: authority.file, ...good });
  expect(upstream).toEqual({
    ca: authority.pem,
    cert: readFileSync(good.cert, 'utf8'),
    key: readFileSync(good.key, 'utf8'),
    serverName: null,
  });
  expect(files).toEqual([authority.file, good.cert, good.key]);
});

test('a further upstream inherits the files of the first, or has its own', () => {
  const own = {
    stock: { url: 'https://a' },
    files: { url: 'https://b', tls: { ca: authority.file, serverName: 'c' } },
  };
  const written = { upstream: { tls: { ca: authority.file } }, upstreams: own };
  const load = (document: object) =>
    loadConfig({
      env: { STOREGATE_CONFIG: 'g.yaml' },
      cwd: folderWith({ 'g.yaml': JSON.stringify(document) }),
    });
  const { upstream, upstreams } = readCertificates(load(written));
  expect(upstreams.stock).toBe(upstream);
  expect(upstreams.files).toEqual({ ...upstream, serverName: 'c' });
  const broken = {
    ...written,
    upstreams: { stock: { url: 'https://a', tls: { ca: 'none.crt' } } },
  };
  expect(mistakesOf(() => void readCertificates(load(broken)))).toEqual([
    expect.stringMatching(/^g\.yaml:1:\d+ upstreams\.stock\.tls\.ca: .*none\.crt does not exist$/),
  ]);
});

test('files of the trace collector are checked only with an endpoint, and are not watched', () => {
  const receiver = (tracing: object, env: Readonly<Record<string, string>> = {}) => {
    const cwd = folderWith({
      'gateway.yaml': JSON.stringify({ tracing }),
      'none.pem': 'nothing',
      'many.pem': authority.pem.repeat(150),
    });
    return readCertificates(loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml', ...env }, cwd }));
  };
  const mistakes = (tracing: object, env?: Readonly<Record<string, string>>) =>
    mistakesOf(() => void receiver(tracing, env)).map((line) =>
      line.replace(/^gateway\.yaml:1:\d+ /, ''),
    );
  const endpoint = 'https://a';
  const bad = { certificate: 'none.pem', clientCertificate: 'no.crt', clientKey: 'no.key' };
  expect(mistakes({ endpoint, ...bad })).toEqual([
    expect.stringMatching(/^tracing\.certificate: .*none\.pem has no certificate/),
    expect.stringMatching(/^tracing\.clientCertificate: .*no\.crt does not exist$/),
    'tracing.clientKey: the file that it names does not exist',
  ]);
  const traces = {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_CLIENT_KEY: good.key,
  };
  expect(mistakes({}, traces)).toEqual([
    'OTEL_EXPORTER_OTLP_CLIENT_KEY: needs tracing.clientCertificate (OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE) beside it',
  ]);
  const wrong = { endpoint, clientCertificate: good.cert, clientKey: other.key };
  expect(mistakes(wrong)).toEqual([
    expect.stringMatching(/^tracing\.clientKey: the private key .* does not belong/),
  ]);
  const right = { certificate: 'many.pem', clientCertificate: good.cert, clientKey: good.key };
  expect(receiver({ endpoint, ...right })).toMatchObject({ files: [], terms: [] });
  for (const off of [bad, { endpoint, exporter: 'none', ...bad }])
    expect(receiver(off)).toMatchObject({ files: [] });
});

describe('reports', () => {
  const mistakes = (tls: Record<string, unknown>, files: Readonly<Record<string, string>> = {}) =>
    mistakesOf(() => void read(tls, files)).map((line) =>
      line.replace(/^gateway\.yaml:1:\d+ /, ''),
    );

  test('a certificate without a key, and a key without a certificate', () => {
    expect(mistakes({ cert: good.cert })).toEqual([
      'upstream.tls.cert: needs upstream.tls.key beside it',
    ]);
    expect(mistakes({ key: good.key })).toEqual([
      'upstream.tls.key: needs upstream.tls.cert beside it',
    ]);
  });

  test('missing files, without the path of a key', () => {
    const [ca, cert, key] = mistakes({ ca: 'no-ca.crt', cert: 'none.crt', key: 'none.key' });
    expect(ca).toMatch(/^upstream\.tls\.ca: .*no-ca\.crt does not exist$/);
    expect(cert).toMatch(/^upstream\.tls\.cert: .*none\.crt does not exist$/);
    expect(key).toBe('upstream.tls.key: the file that it names does not exist');
  });

  test('a key in place of its path, without showing it', () => {
    const pem = readFileSync(good.key, 'utf8');
    const lines = mistakes({ cert: good.cert, key: pem });
    expect(lines).toEqual([
      'upstream.tls.key: must be the path of a file with the key, not the key, and is not (the value is not shown)',
    ]);
  });

  test('the key of another certificate', () => {
    expect(mistakes({ cert: good.cert, key: other.key })).toEqual([
      'upstream.tls.key: the private key in its file does not belong to the certificate beside it',
    ]);
  });

  test('certificate and key that are swapped', () => {
    expect(mistakes({ cert: good.key, key: good.cert })).toEqual([
      `upstream.tls.cert: ${good.key} has a private key where a certificate should be`,
      'upstream.tls.key: the file that it names has a certificate where a private key should be',
    ]);
  });

  test.each([
    ['PKCS #8', ['pkcs8', '-topk8', '-passout', 'pass:secret']],
    ['the old form', ['ec', '-aes128', '-passout', 'pass:secret']],
  ])('a key with a passphrase, in %s', (_, args) => {
    const key = execFileSync(program('openssl'), [...args, '-in', good.key], {
      encoding: 'utf8',
      stdio: 'pipe',
    });
    expect(mistakes({ cert: good.cert, key: 'it.key' }, { 'it.key': key })).toEqual([
      'upstream.tls.key: the file that it names is encrypted with a passphrase: decrypt it (openssl pkey)',
    ]);
  });

  test.each([
    ['text', 'nothing', 'has no certificate in PEM'],
    ['', '', 'has no certificate in PEM'],
    [
      'half a certificate',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
      'has a broken certificate, number 1',
    ],
  ])('a file with %s for certificates', (_, text, message) => {
    const [line] = mistakes({ ca: 'ca.crt' }, { 'ca.crt': text });
    expect(line).toMatch(new RegExp(`^upstream\\.tls\\.ca: .*ca\\.crt ${message}$`));
  });

  test('a broken key, without its content', () => {
    const [line] = mistakes(
      { cert: good.cert, key: 'it.key' },
      { 'it.key': '-----BEGIN PRIVATE KEY-----\nMIGHsecret\n-----END PRIVATE KEY-----\n' },
    );
    expect(line).toBe('upstream.tls.key: the file that it names has a broken private key');
  });
});

describe('a listener', () => {
  function listening(section: object, env: Readonly<Record<string, string>> = {}) {
    const cwd = folderWith({ 'gateway.yaml': JSON.stringify(section) });
    return readCertificates(loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml', ...env }, cwd }));
  }

  test('has its certificates from the environment and from the file, in this order, with names and dates', () => {
    const wild = authority.issue('wild', 'DNS:*.Shop.example,DNS:shop.example,IP:127.0.0.1');
    const env = { STOREGATE_TLS_CERT: good.cert, STOREGATE_TLS_KEY: good.key };
    const { listen, terms } = listening({ listen: { tls: { certificates: [wild] } } }, env);
    expect(listen).toMatchObject({ minVersion: 'TLSv1.2', clientCa: null });
    expect(listen!.pairs.map(({ names }) => names)).toEqual([
      ['good.example'],
      ['*.shop.example', 'shop.example'],
    ]);
    expect(terms.map(({ file }) => file)).toEqual([good.cert, wild.cert]);
    const [{ notBefore, notAfter }] = terms as [(typeof terms)[0]];
    expect(notAfter - notBefore).toBe(86_400_000);
  });

  test('reports which of its certificates is wrong', () => {
    const tls = { ...good, certificates: [other, { cert: good.cert, key: other.key }] };
    expect(mistakesOf(() => void listening({ listen: { tls } }))).toEqual([
      expect.stringMatching(
        /^gateway\.yaml:1:\d+ listen\.tls\.certificates\[1\]\.key: the private key in its file does not belong/,
      ),
    ]);
    expect(mistakesOf(() => void listening({}, { STOREGATE_TLS_CERT: good.cert }))).toEqual([
      'STOREGATE_TLS_CERT: needs listen.tls.key (STOREGATE_TLS_KEY) beside it',
    ]);
    expect(
      mistakesOf(() => void listening({}, { STOREGATE_ADMIN_TLS_CLIENT_CA: authority.file })),
    ).toEqual([
      'STOREGATE_ADMIN_TLS_CLIENT_CA: needs admin.tls.cert (STOREGATE_ADMIN_TLS_CERT) beside it',
    ]);
  });

  test('reports a key that everybody can read', () => {
    chmodSync(other.key, 0o644);
    expect(listening({ listen: { tls: other } }).notes).toEqual([
      'listen.tls.key: everybody on this machine can read its file',
    ]);
    chmodSync(other.key, 0o600);
    expect(listening({ listen: { tls: other } }).notes).toEqual([]);
  });
});

describe('warns', () => {
  const DAY = 86_400_000;
  const at = (notBefore: number, notAfter: number) => {
    const term = { setting: 'listen.tls', file: 'it.crt', notBefore, notAfter };
    const terms = [term, term];
    return {
      listen: null,
      admin: null,
      upstream: null,
      upstreams: {},
      terms,
      notes: ['a note'],
      files: [],
    };
  };

  test.each([
    ['that has ended', -10, -1, ['the certificate in it.crt has ended on 1970-04-10', 'a note']],
    ['that ends now', -10, 0, ['the certificate in it.crt has ended on 1970-04-11', 'a note']],
    ['that ends in 13 days', -10, 13, ['the certificate in it.crt ends on 1970-04-24', 'a note']],
    ['that ends in 14 days', -10, 14, ['a note']],
    [
      'that does not hold yet',
      1,
      90,
      ['the certificate in it.crt holds only from 1970-04-12 on', 'a note'],
    ],
  ])('of a certificate %s', (_, from, to, warnings) => {
    const now = 100 * DAY;
    expect(warningsOf(at(now + from * DAY, now + to * DAY), now)).toEqual(warnings);
    expect(firstEnd(at(0, now + to * DAY))).toBe(now + to * DAY);
  });

  test('of nothing without a certificate', () => {
    const none = { ...at(0, 0), terms: [], notes: [] };
    expect([warningsOf(none, Date.now()), firstEnd(none)]).toEqual([[], Number.POSITIVE_INFINITY]);
  });
});
