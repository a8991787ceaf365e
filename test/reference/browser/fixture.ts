import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { TestBrowser } from '../../support/browser.ts';
import { TestGateway } from '../../support/gateway.ts';
import { Reader } from '../../support/reader.ts';

const PLANS = `
plans:
  free: { windows: [{ limit: 60, per: minute }, { limit: 1000, per: day }] }
  tiny: { windows: [{ limit: 3, per: minute }] }
  single: { windows: [{ limit: 1, per: minute }] }
`;

const BRIEF = [
  ['/pets', 'get'],
  ['/pets/{petId}', 'get'],
  ['/categories', 'get'],
  ['/store/orders', 'get'],
  ['/store/orders', 'post'],
  ['/store/inventory/{petId}', 'get'],
] as const;

export class ReferenceFixture {
  readonly #folder = mkdtempSync(join(tmpdir(), 'storegate-reference-'));
  shipped!: TestGateway;
  /** Rendering all operations, and axe on them, takes most of the time. */
  brief!: TestGateway;
  browser!: TestBrowser;
  reader!: Reader;
  complaints!: string[];

  /** `shipped`: a gateway with the shipped contract. */
  async start(browser: TestBrowser, shipped: TestGateway): Promise<void> {
    const contract = join(this.#folder, 'openapi.json');
    writeFileSync(contract, JSON.stringify(briefContract()));
    this.shipped = shipped;
    this.brief = await TestGateway.start({
      plans: PLANS,
      settings: `contract: { file: "${contract}" }\n`,
    });
    this.browser = browser;
    const { page, complaints } = await this.browser.page({ reducedMotion: 'reduce' });
    this.reader = new Reader(page);
    this.complaints = complaints;
  }

  async stop(): Promise<void> {
    await this.brief?.stop();
    rmSync(this.#folder, { recursive: true });
  }

  async load(gateway: TestGateway, place = ''): Promise<Reader> {
    await this.reader.page.evaluate('sessionStorage.clear()');
    await this.reader.page.goto('about:blank');
    await this.reader.open(gateway.url, place);
    return this.reader;
  }

  async useKey(plan: string): Promise<string> {
    const { secret } = await this.brief.key({ plan });
    await this.reader.useKey(secret);
    return secret;
  }
}

function briefContract(): object {
  const contract = parse(
    readFileSync(join(import.meta.dirname, '../../../config/openapi.yaml'), 'utf8'),
  );
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [path, method] of BRIEF) {
    const { parameters = [], [method]: operation } = contract.paths[path];
    const responses = Object.entries(operation.responses).filter(([status]) =>
      /^(2|404)/.test(status),
    );
    paths[path] ??= { parameters };
    paths[path][method] = { ...operation, responses: Object.fromEntries(responses) };
  }
  return { ...contract, paths };
}
