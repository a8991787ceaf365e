import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** Contains nothing of the text. */
export class UnfitPem extends Error {
  override name = 'UnfitPem';
}

const MOST_CERTIFICATES = 100;
const CERTIFICATE =
  /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** In order, at least one. Throws UnfitPem. */
export function certificatesIn(
  pem: string,
  most = MOST_CERTIFICATES,
): X509Certificate[] {
  const found = pem.match(CERTIFICATE) ?? [];
  if (found.length === 0) {
    const isKey = pem.includes('PRIVATE KEY-----');
    throw new UnfitPem(
      isKey
        ? 'has a private key where a certificate should be'
        : 'has no certificate in PEM',
    );
  }
  if (found.length > most)
    throw new UnfitPem(`has more than ${most} certificates`);
  return found.map((text, i) => {
    try {
      return new X509Certificate(text);
    } catch {
      throw new UnfitPem(`has a broken certificate, number ${i + 1}`);
    }
  });
}

/** Throws UnfitPem. */
export function keyIn(pem: string): KeyObject {
  if (!pem.includes('PRIVATE KEY-----')) {
    const isCertificate = pem.includes('-----BEGIN CERTIFICATE-----');
    throw new UnfitPem(
      isCertificate
        ? 'has a certificate where a private key should be'
        : 'has no private key in PEM',
    );
  }
  // Includes the old form.
  if (/BEGIN ENCRYPTED PRIVATE KEY|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    throw new UnfitPem(
      'is encrypted with a passphrase: decrypt it (openssl pkey)',
    );
  }
  try {
    return createPrivateKey(pem);
  } catch {
    throw new UnfitPem('has a broken private key');
  }
}

/** In lower case, some with `*.` in front. */
export function namesIn({ subjectAltName = '' }: X509Certificate): string[] {
  const found = subjectAltName.matchAll(
    /(?:^|, )DNS:((?:\*\.)?[A-Za-z0-9._-]+)(?=,|$)/g,
  );
  return [...found].map(([, name]) => name!.toLowerCase());
}
