import express, { type Express } from 'express';
import { CONTRACT_JSON_PATH, CONTRACT_YAML_PATH, REFERENCE_PATH } from '../common/own-paths.ts';
import type { Contract } from '../contract/contract.ts';
import { Refusal } from '../errors/refusals.ts';
import type { Plans } from '../limits/plans.ts';
import { loadAssets } from './assets.ts';
import { Content } from './content.ts';
import { publishedDocuments } from './documents.ts';
import { renderPage } from './page/page.ts';

const PAGE_PATH = `${REFERENCE_PATH}/`;

/** The paths that `createReference` answers; a path that ends in `/` is a prefix. */
export const REFERENCE_PATHS = [CONTRACT_JSON_PATH, CONTRACT_YAML_PATH, REFERENCE_PATH, PAGE_PATH];

export interface ReferenceOptions {
  /** `false` leaves the page out, but not the contract. */
  readonly page: boolean;
  /** The page shows their limits and the ban ladder, but no limits of single accounts. */
  readonly plans: Plans;
}

/** Browsers may keep it but revalidate it each time, and get 304 if it has not changed. */
const REVALIDATE = 'no-cache';
const FOR_EVER = 'public, max-age=31536000, immutable';

/**
 * The page loads from this origin only, and nothing in it is inline. Swagger UI sets a few styles through the CSSOM, which a
 * policy (CSP level 3) does not restrict, so `style-src` needs no exception for them.
 */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** Serves the published contract and its page. It passes refusals and errors on to its caller. */
export function createReference(contract: Contract, { page, plans }: ReferenceOptions): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use((request, _response, next) => {
    if (request.method === 'GET' || request.method === 'HEAD') return next();
    throw new Refusal('method_not_allowed', { headers: ['Allow', 'GET, HEAD'] });
  });
  const documents = publishedDocuments(contract);
  app.use((request, response, next) => documents.get(request.path)?.send(request, response, REVALIDATE) ?? next());
  if (page) servePage(app, contract, plans);
  return app;
}

function servePage(app: Express, contract: Contract, plans: Plans): void {
  const assets = loadAssets(`${PAGE_PATH}assets/`);
  const html = new Content('text/html', () => renderPage({ contract, plans, assets }));
  app.use((request, response, next) => {
    if (request.path === REFERENCE_PATH) return response.redirect(308, PAGE_PATH);
    if (request.path === PAGE_PATH) return html.send(request, response.set(PAGE_HEADERS), REVALIDATE);
    const asset = assets.find(request.path);
    if (!asset) return next();
    return asset.send(request, response.set('X-Content-Type-Options', 'nosniff'), FOR_EVER);
  });
}
