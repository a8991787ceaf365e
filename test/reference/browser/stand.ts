import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { TestBrowser } from '../../support/browser.ts';
import { TestGateway } from '../../support/gateway.ts';
import { Reader } from '../../support/reader.ts';

const PLANS = `
plans:
  free: { windows: [{ limit: 60, per: minute }, { limit: 1000, per: day }] }
  tiny: { windows: [{ limit: 3, per: minute }] }
  single: { windows: [{ limit: 1, per: minute }] }
`;

/** Of each kind one. */
const BRIEF = [
  ['/pets', 'get'],
  ['/pets/{petId}', 'get'],
  ['/categories', 'get'],
  ['/store/orders', 'get'],
  ['/store/orders', 'post'],
  ['/store/inventory/{petId}', 'get'],
] as const;

/** A gateway, and a browser with one page of its reference, which goes from test to test. */
export class ReferenceStand {
  readonly #folder = mkdtempSync(join(tmpdir(), 'storegate-reference-'));
  /** With the shipped contract. */
  shipped!: TestGateway;
  /** With a few operations of the shipped contract, and few of their responses: drawing the others, and axe, take most of the time. */
  brief!: TestGateway;
  browser!: TestBrowser;
  /** At a desk: a wide page. Empty until a test opens it. */
  desk!: Reader;
  /** What the console of the desk's page shows. */
  complaints!: string[];

  async start(): Promise<void> {
    const contract = join(this.#folder, 'openapi.json');
    writeFileSync(contract, JSON.stringify(briefContract()));
    this.shipped = await TestGateway.start({ plans: PLANS });
    this.brief = await TestGateway.start({ plans: PLANS, settings: `contract: { file: "${contract}" }\n` });
    this.browser = await TestBrowser.start();
    const { page, complaints } = await this.browser.page({ reducedMotion: 'reduce' });
    this.desk = new Reader(page);
    this.complaints = complaints;
  }

  async stop(): Promise<void> {
    await this.browser?.stop();
    await Promise.all([this.shipped?.stop(), this.brief?.stop()]);
    rmSync(this.#folder, { recursive: true });
  }

  /** Loads the page anew at the desk: nothing is open, and no key is given. */
  async load(gateway: TestGateway, place = ''): Promise<Reader> {
    await this.desk.page.evaluate('sessionStorage.clear()');
    await this.desk.page.goto('about:blank');
    await this.desk.open(gateway.url, place);
    return this.desk;
  }

  /** Gives a new key of this plan at the desk, and returns its secret. */
  async useKey(plan: string): Promise<string> {
    const { secret } = await this.brief.key({ plan });
    await this.desk.useKey(secret);
    return secret;
  }
}

function briefContract(): object {
  const contract = parse(readFileSync(join(import.meta.dirname, '../../../config/openapi.yaml'), 'utf8'));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [path, method] of BRIEF) {
    const { parameters = [], [method]: operation } = contract.paths[path];
    const responses = Object.entries(operation.responses).filter(([status]) => /^(2|404)/.test(status));
    paths[path] ??= { parameters };
    paths[path][method] = { ...operation, responses: Object.fromEntries(responses) };
  }
  return { ...contract, paths };
}
