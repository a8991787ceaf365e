export const REVALIDATE = ['Cache-Control', 'no-cache'];

/** The path of a file changes with its content. */
export const ASSET_HEADERS = [
  ...['Cache-Control', 'public, max-age=31536000, immutable'],
  ...['X-Content-Type-Options', 'nosniff'],
];

/**
 * A page loads from its origin only, and has nothing inline except scripts with these hashes (`sha256-…`). CSP level 3
 * does not restrict the CSSOM, so `style-src` needs no exception.
 */
export function pageHeaders(scripts: readonly string[] = []): readonly string[] {
  const scriptSources = ["'self'", ...scripts.map((hash) => `'${hash}'`)].join(' ');
  return [
    ...REVALIDATE,
    'Content-Security-Policy',
    `default-src 'none'; script-src ${scriptSources}; style-src 'self'; img-src 'self' data:; connect-src 'self'; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ...['Referrer-Policy', 'no-referrer'],
    ...['X-Content-Type-Options', 'nosniff'],
    ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ];
}
