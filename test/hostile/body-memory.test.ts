import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { Fixture, PET } from './fixture.ts';
import { EMPTY_LIST } from './recording-backend.ts';
import { Wire, type WireAnswer } from './wire.ts';

const KIB = 1024;
const LARGE = PET + ' '.repeat(100 * KIB);
const PLANS = `plans:
  free: { windows: [{ limit: 1000000, per: minute }], weight: 1 }
  business: { windows: [{ limit: 1000000, per: minute }], weight: 8 }
public: { windows: [{ limit: 1000000, per: minute }] }
`;

const security = [{ key: [] }];
const responses = { 200: { description: 'Good.' } };
const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
const CONTRACT = {
  openapi: '3.0.3',
  info: { title: 'Pets', version: '1' },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
  paths: {
    '/pets': { post: { operationId: 'addPet', security, requestBody, responses } },
    '/visits': { post: { operationId: 'addVisit', security: [], requestBody, responses } },
  },
};

let fixture: Fixture;
let attack: Attack;
beforeAll(async () => {
  const settings = 'http: {maxBodyBytes: 128KiB, bodyBudget: 1MiB}';
  fixture = await Fixture.start({ document: CONTRACT, settings, plans: PLANS });
});
beforeEach(() => {
  attack = new Attack();
});
afterEach(async () => {
  await attack.stop();
  await until('its bodies are gone', async () => (await bytesHeld()) === 0);
});
afterAll(() => fixture.stop());

function head(path: string, secret: string | null, length: number): string {
  const key = secret === null ? [] : [`X-API-Key: ${secret}`];
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: api.example',
    ...key,
    'Content-Type: application/json',
  ];
  return `${[...lines, `Content-Length: ${length}`].join('\r\n')}\r\n\r\n`;
}

/**
 * Bodies that are never whole, and come again as soon as they are refused, smaller until they fit.
 */
class Attack {
  readonly #slots: Promise<void>[] = [];
  readonly #wires = new Set<Wire>();
  #isOver = false;

  /** `bytes`: of 128 KiB. */
  add(path: string, secret: string | null, from = '127.0.0.1', bytes = 30 * KIB): void {
    this.#slots.push(this.#fill(head(path, secret, 128 * KIB), from, bytes));
  }

  once(request: string, answered: (response: WireAnswer) => void): void {
    this.#slots.push(this.#ask(request, answered));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    for (const wire of this.#wires) wire.close();
    await Promise.all(this.#slots);
  }

  async #ask(request: string, answered: (response: WireAnswer) => void): Promise<void> {
    const wire = await Wire.open(fixture.gateway.url);
    this.#wires.add(wire);
    await wire
      .send(request)
      .answer()
      .then(answered, () => {});
  }

  async #fill(request: string, from: string, bytes: number): Promise<void> {
    for (let size = bytes; !this.#isOver; size = Math.max(KIB, size / 2)) {
      const wire = await Wire.open(fixture.gateway.url, from);
      this.#wires.add(wire);
      if (this.#isOver) wire.close();
      await wire.send(request + 'x'.repeat(size)).ended();
      this.#wires.delete(wire);
    }
  }
}

const bytesHeld = () => fixture.metric('body_bytes');

const isFull = (least: number) =>
  until('the memory for bodies is used up', async () => (await bytesHeld()) > least * 1024 * KIB);

async function post(path: string, secret: string | null): Promise<number> {
  const wire = await fixture.connect();
  const { status } = await wire.send(head(path, secret, LARGE.length) + LARGE).answer();
  wire.close();
  return status;
}

async function statusesOf(count: number, path: string, secret: string | null): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) statuses.push(await post(path, secret));
  return statuses;
}

const keyOf = async (account: string, plan: string) =>
  (await fixture.gateway.key({ account, plan })).secret;
const ALL_GOOD = new Array(30).fill(200);

describe('while slow bodies use up the memory for bodies', () => {
  test.each([
    ['bodies of another plan are all accepted', 'good', 'business'],
    ['bodies of another account of the same plan are all accepted', 'other', 'free'],
  ])('of five keys of one account, %s', async (_what, account, plan) => {
    for (let i = 0; i < 5; i++) {
      const secret = await keyOf('mallory', 'free');
      for (let body = 0; body < 10; body++) attack.add('/pets', secret);
    }
    await isFull(0.9);
    expect(await statusesOf(30, '/pets', await keyOf(account, plan))).toEqual(ALL_GOOD);
  });

  test('of five addresses without a key, bodies of another address are all accepted', async () => {
    for (let i = 2; i < 7; i++)
      for (let body = 0; body < 10; body++) attack.add('/visits', null, `127.0.0.${i}`);
    await isFull(0.9);
    expect(await statusesOf(30, '/visits', null)).toEqual(ALL_GOOD);
  });

  test('of two hundred accounts in small pieces, bodies of a plan of more weight are all accepted', async () => {
    for (let i = 0; i < 200; i++)
      attack.add('/pets', await keyOf(`mallory-${i}`, 'free'), '127.0.0.1', 6 * KIB);
    await isFull(0.9);
    expect(await statusesOf(30, '/pets', await keyOf('good', 'business'))).toEqual(ALL_GOOD);
  });
});

test('while whole bodies of a plan wait for their responses, bodies of another plan are accepted', async () => {
  fixture.backend.respond = (socket, { headers }) => {
    if (headers.some(([name, value]) => name === 'X-Storegate-Account' && value === 'good'))
      socket.write(EMPTY_LIST);
  };
  const before = fixture.backend.requests.length;
  const refused: number[] = [];
  for (let i = 0; i < 5; i++) {
    const secret = await keyOf(`mallory-${i}`, 'free');
    for (let body = 0; body < 10; body++) {
      attack.once(head('/pets', secret, LARGE.length) + LARGE, ({ status }) =>
        refused.push(status),
      );
    }
  }
  await until(
    'all are at the backend, or refused',
    () => fixture.backend.requests.length - before + refused.length === 50,
  );
  expect(new Set(refused)).toEqual(new Set([503]));
  expect(fixture.backend.requests.length - before).toBeGreaterThan(3);
  expect(await statusesOf(30, '/pets', await keyOf('good', 'business'))).toEqual(ALL_GOOD);
});
