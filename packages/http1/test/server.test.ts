import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Wire } from '../../../test/hostile/wire.ts';
import { blockEventLoop } from '../../../test/support/block-event-loop.ts';
import { lines } from '../../../test/support/lines.ts';
import { type Served, serve } from '../../../test/support/serve.ts';
import { until } from '../../../test/support/until.ts';
import type { Occupant, Place } from '../src/place.ts';
import type { ServerOptions } from '../src/server.ts';
import type { ServerCall } from '../src/server-call.ts';
import { WireError } from '../src/wire-error.ts';

const GET = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const HELD = 'GET /held HTTP/1.1\r\nHost: a\r\n\r\n';
/** More than the system buffers of a connection that is not read. */
const MUCH = 32 * 1024 * 1024;

/** Only calls to `/held` wait for the test. */
class Stage {
  readonly served: Served;
  readonly held: ServerCall[] = [];
  readonly #wires: Wire[] = [];

  private constructor(served: Served) {
    this.served = served;
  }

  static async open(settings: Partial<ServerOptions> = {}, host?: string): Promise<Stage> {
    const stage = new Stage(await serve((call) => stage.#take(call), settings, host));
    stages.push(stage);
    return stage;
  }

  #take(call: ServerCall): void {
    if (call.target.startsWith('/held')) this.held.push(call);
    else call.respond(200, '', lines(), call.target);
  }

  async connect(): Promise<Wire> {
    const wire = await Wire.open(this.served.url);
    this.#wires.push(wire);
    return wire;
  }

  /** On a new connection. */
  async begin(text: string): Promise<{ wire: Wire; call: ServerCall }> {
    const wire = await this.connect();
    return { wire, call: await this.next(wire.send(text)) };
  }

  async next(_wire: Wire): Promise<ServerCall> {
    await until('a call comes', () => this.held.length > 0);
    return this.held.shift()!;
  }

  /** Fails if a request did not end. */
  async close(): Promise<void> {
    for (const wire of this.#wires) wire.close();
    const { server } = this.served;
    await until(
      'all has ended',
      () => server.inFlight === 0 && server.connections.size === 0,
      5_000,
    ).finally(() => this.served.close());
  }
}

const stages: Stage[] = [];
afterEach(() => Promise.all(stages.splice(0).map((stage) => stage.close())));

/** A call of the first connection of a new stage. */
async function asked(text = HELD, settings: Partial<ServerOptions> = {}) {
  const stage = await Stage.open(settings);
  const { wire, call } = await stage.begin(text);
  const ends: boolean[] = [];
  call.whenEnded(() => ends.push(call.left));
  return { stage, wire, call, ends };
}

function bodyOf(call: ServerCall) {
  const body = { text: '', outcome: 'coming' };
  call.readBody({
    chunk(bytes) {
      body.text += bytes.toString('latin1');
      return true;
    },
    end() {
      body.outcome = 'whole';
    },
    fail(error) {
      body.outcome = error instanceof WireError ? error.fault : 'failed';
    },
  });
  return body;
}

const held = (lines: string, body = '') => `POST /held HTTP/1.1\r\nHost: a\r\n${lines}\r\n${body}`;
const sized = (length: number, body = '') => held(`Content-Length: ${length}\r\n`, body);

describe('a connection', () => {
  test.each([
    ['HTTP/1.1', 'HTTP/1.1\r\nHost: a\r\n', 'keep-alive'],
    ['HTTP/1.1 that closes', 'HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n', 'close'],
    ['HTTP/1.0', 'HTTP/1.0\r\n', 'close'],
    ['HTTP/1.0 that persists', 'HTTP/1.0\r\nConnection: keep-alive\r\n', 'keep-alive'],
  ])('of %s persists as requested', async (_what, head, expected) => {
    const wire = await (await Stage.open()).connect();
    wire.send(`GET /a ${head}\r\n`);
    expect(await wire.answer()).toMatchObject({
      status: 200,
      body: '/a',
      headers: { connection: expected },
    });
    if (expected === 'close') expect(await wire.ended()).toBe('');
    else expect(await wire.send(GET).answer()).toMatchObject({ body: '/a' });
  });

  test('keeps a body that is read late, while others use the same buffer', async () => {
    const stage = await Stage.open();
    const [one, two] = [await stage.begin(sized(3, 'one')), await stage.begin(sized(3, 'two'))];
    expect([one, two].map(({ call }) => bodyOf(call).text)).toEqual(['one', 'two']);
    for (const { wire, call } of [one, two]) {
      call.respond(200, '', lines(), '');
      await wire.answer();
    }
  });

  test('whose call says so ends behind its answer, though more has come', async () => {
    const { wire, call } = await asked(`${HELD}${GET}`);
    call.keepAlive = false;
    call.respond(200, '', lines(), 'last');
    expect(await wire.answer()).toMatchObject({ body: 'last', headers: { connection: 'close' } });
    expect(await wire.ended()).toBe('');
  });

  test('answers requests in their order, whatever waits in between', async () => {
    const stage = await Stage.open();
    const post =
      'POST /held/b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n';
    const { wire, call } = await stage.begin(
      `GET /held/a HTTP/1.1\r\nHost: a\r\n\r\n${post}${GET}`,
    );
    expect(stage.held).toEqual([]);
    call.respond(200, '', lines(), 'a');
    const second = await stage.next(wire);
    expect(bodyOf(second)).toEqual({ text: 'ok', outcome: 'whole' });
    second.respond(200, '', lines(), 'b');
    expect([
      (await wire.answer()).body,
      (await wire.answer()).body,
      (await wire.answer()).body,
    ]).toEqual(['a', 'b', '/a']);
  });

  test.each([
    ['without bodies', GET],
    ['with bodies', 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok'],
    [
      'with chunked bodies',
      'POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    ],
  ])('with many pipelined requests %s lets others have their turn', async (_what, request) => {
    const many = 500;
    const seen: string[] = [];
    let polite: Wire | null = null;
    const served = await serve((call) => {
      seen.push(call.target);
      if (seen.length === 1) polite!.send('GET /polite HTTP/1.1\r\nHost: a\r\n\r\n');
      blockEventLoop(0.2);
      call.respond(200, '', lines(), '');
    });
    const greedy = await Wire.open(served.url);
    polite = await Wire.open(served.url);
    greedy.send(request.repeat(many));
    for (let i = 0; i < many; i++) expect((await greedy.answer()).status).toBe(200);
    await polite.answer();
    // Eight in the first turn, ten in each of 2 ms.
    expect(seen.indexOf('/polite')).toBeLessThan(100);
    greedy.close();
    polite.close();
    await served.close();
  });

  test('ends behind the response to the last request that it may have', async () => {
    const stage = await Stage.open({ maxRequestsPerConnection: 3 });
    const wire = (await stage.connect()).send(GET.repeat(2));
    expect(
      [await wire.answer(), await wire.answer()].map(({ headers }) => headers.connection),
    ).toEqual(['keep-alive', 'keep-alive']);
    wire.send(GET.repeat(5));
    expect((await wire.answer()).headers.connection).toBe('close');
    expect(await wire.ended()).toBe('');
  });

  test('with pipelined requests has all of them answered when the server leaves', async () => {
    const { stage, wire, call } = await asked(`${HELD}${GET.repeat(30)}`);
    stage.served.server.leave();
    call.respond(200, '', lines(), '');
    const connections: string[] = [];
    for (let i = 0; i <= 30; i++) connections.push((await wire.answer()).headers.connection!);
    expect(connections).toEqual([...Array.from({ length: 30 }, () => 'keep-alive'), 'close']);
    expect(await wire.ended()).toBe('');
  });

  test('is given up with the bytes behind the request', async () => {
    const { wire, call, ends } = await asked('GET /held HTTP/1.1\r\nHost: a\r\n\r\nearly');
    const { socket, rest } = call.switchProtocols('Go Ahead', lines('upgrade', 'x'));
    expect(rest?.toString()).toBe('early');
    expect(await wire.answer()).toMatchObject({ status: 101, headers: { upgrade: 'x' } });
    wire.send('later');
    expect((await once(socket, 'data')).toString()).toBe('later');
    expect(ends).toEqual([]);
    socket.end('bye');
    expect(await wire.ended()).toBe('bye');
    await until('the call ends with it', () => ends.length === 1);
  });

  test('has the address of its other side, of either version', async () => {
    const four = await Stage.open();
    expect((await four.begin(HELD)).call.peer).toBe('127.0.0.1');
    const six = await Stage.open({}, '::1');
    const [, port] = /:(\d+)$/.exec(six.served.url)!;
    const answered = fetch(`http://[::1]:${port}/held`);
    await until('it is there', () => six.held.length === 1);
    expect(six.held[0]!.peer).toBe('::1');
    six.held[0]!.respond(200, '', lines('connection', 'close'), '');
    expect((await answered).status).toBe(200);
    six.served.server.destroyConnections();
  });

  test('that is not taken is left alone', async () => {
    let taking = true;
    const stage = await Stage.open({
      takes(socket, enter) {
        if (taking) enter({ occupant: null });
        else socket.destroy();
      },
    });
    const wire = await stage.connect();
    expect((await wire.send(GET).answer()).status).toBe(200);
    taking = false;
    expect(await (await stage.connect()).ended()).toBe('');
    expect(stage.served.server.connections.size).toBe(1);
    expect((await wire.send(GET).answer()).status).toBe(200);
  });
});

describe('an answer', () => {
  test.each([
    ['HEAD', 200, '4', ''],
    ['GET', 204, undefined, ''],
    ['GET', 304, undefined, ''],
    ['GET', 200, '4', 'body'],
  ])('to %s with %i has a body only where one belongs', async (method, status, length, body) => {
    const { wire, call } = await asked(`${method} /held HTTP/1.1\r\nHost: a\r\n\r\n`);
    call.respond(status, '', method === 'HEAD' ? lines('content-length', '4') : lines(), 'body');
    const response = await wire.answer({ head: method === 'HEAD' });
    expect([response.status, response.headers['content-length'], response.body]).toEqual([
      status,
      length,
      body,
    ]);
    expect((await wire.send(GET).answer()).body).toBe('/a');
  });

  test.each([
    ['HTTP/1.1\r\nHost: a\r\n', [], 'keep-alive', 'chunked'],
    ['HTTP/1.1\r\nHost: a\r\n', ['content-length', '6'], 'keep-alive', undefined],
    ['HTTP/1.0\r\nConnection: keep-alive\r\n', ['content-length', '6'], 'keep-alive', undefined],
    ['HTTP/1.0\r\nConnection: keep-alive\r\n', [], 'close', undefined],
  ])(
    'in parts ends where its reader sees it: %j %j',
    async (version, fields, connection, coding) => {
      const { wire, call } = await asked(`GET /held ${version}\r\n`);
      call.begin(200, '', lines(...fields));
      call.flush();
      for (const part of ['one', '', 'two']) call.write(Buffer.from(part), () => {});
      call.end();
      const response = await wire.answer();
      expect(response).toMatchObject({ body: 'onetwo', headers: { connection } });
      expect(response.headers['transfer-encoding']).toBe(coding);
      if (connection === 'close') expect(await wire.ended()).toBe('');
      else expect((await wire.send(GET).answer()).body).toBe('/a');
    },
  );

  test('in parts to HEAD has no parts', async () => {
    const { wire, call } = await asked('HEAD /held HTTP/1.1\r\nHost: a\r\n\r\n');
    call.begin(200, '', lines());
    call.write(Buffer.from('part'), () => {});
    call.end();
    expect((await wire.answer({ head: true })).status).toBe(200);
    expect((await wire.send(GET).answer()).body).toBe('/a');
  });

  test.each([
    ['shorter', 'on'],
    ['longer', 'ones'],
  ])('%s than it says is cut off', async (_what, body) => {
    const { wire, call, ends } = await asked();
    call.begin(200, '', lines('content-length', '3'));
    call.flush();
    call.write(Buffer.from(body), () => {});
    call.end();
    await expect(wire.answer()).rejects.toThrow('before the answer was whole');
    await until('the call has ended', () => ends.length === 1);
    expect(ends).toEqual([true]);
  });

  test('that HTTP/1.0 reads to the end of the connection is reset when it is cut off', async () => {
    const { wire, call } = await asked('GET /held HTTP/1.0\r\n\r\n');
    call.begin(200, '', lines());
    call.write(Buffer.from('part'), () => {});
    let reset = '';
    wire.socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      reset = code ?? '';
    });
    const closed = once(wire.socket, 'close').catch(() => {});
    call.cutOff();
    await closed;
    expect(reset).toBe('ECONNRESET');
  });

  test('waits for a slow reader, and signals when it may continue', async () => {
    const { wire, call } = await asked();
    wire.socket.pause();
    call.begin(200, '', lines());
    const part = Buffer.alloc(64 * 1024, 'x');
    let [written, drains] = [0, 0];
    const drain = () => void drains++;
    while (call.write(part, drain)) written += part.length;
    expect(drains).toBe(0);
    expect(written).toBeLessThan(MUCH);
    wire.socket.resume();
    await until('it may continue', () => drains === 1);
    call.end();
    expect((await wire.answer()).body).toHaveLength(written + part.length);
  });

  test('that is never read is given up', async () => {
    const { wire, call, ends } = await asked(HELD, { responseWriteTimeout: 50 });
    wire.socket.pause();
    call.respond(200, '', lines(), Buffer.alloc(MUCH));
    await until('it has ended', () => ends.length === 1);
    expect(ends).toEqual([true]);
  });

  test('is reported once, and what comes behind it changes nothing', async () => {
    const { stage, wire, call, ends } = await asked();
    for (const body of ['first', 'second']) call.respond(200, '', lines(), body);
    expect((await wire.answer()).body).toBe('first');
    expect((await wire.send(GET).answer()).body).toBe('/a');
    wire.close();
    await until('the connection has ended', () => stage.served.server.connections.size === 0);
    expect(ends).toEqual([false]);
  });
});

describe('a body', () => {
  test('is kept until somebody asks for it', async () => {
    const { wire, call } = await asked(sized(6, 'one'));
    wire.send('two');
    await until('one part is there', () => call.hasBody);
    const body = bodyOf(call);
    await until('it is whole', () => body.outcome === 'whole');
    expect(body.text).toBe('onetwo');
    call.respond(200, '', lines(), 'good');
    expect((await wire.answer()).body).toBe('good');
  });

  test('waits while its reader takes no more', async () => {
    const { stage, wire, call } = await asked(sized(MUCH));
    let [size, whole] = [0, false];
    call.readBody({
      chunk: (bytes) => {
        size += bytes.length;
        return false;
      },
      end: () => {
        whole = true;
      },
      fail: () => {},
    });
    wire.send(Buffer.alloc(MUCH));
    await until('the first part is there', () => size > 0);
    const before = size;
    // Anything else would have arrived before a response on another connection.
    const other = await stage.connect();
    for (let i = 0; i < 5; i++) await other.send(GET).answer();
    expect(size).toBe(before);
    for (; !whole; await new Promise(setImmediate)) call.resumeBody();
    expect(size).toBe(MUCH);
    call.respond(200, '', lines(), 'good');
    expect((await wire.answer()).body).toBe('good');
  });

  test.each([
    ['HTTP/1.1', 'HTTP/1.1', true],
    ['HTTP/1.0, which knows no such answer', 'HTTP/1.0', false],
  ])('that waits to be asked for is asked for: %s', async (_what, version, requested) => {
    const head = `POST /held ${version}\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n`;
    const { wire, call } = await asked(head);
    call.sendContinue();
    if (requested) expect((await wire.answer()).status).toBe(100);
    wire.send('ok');
    const body = bodyOf(call);
    await until('it is whole', () => body.outcome === 'whole');
    call.respond(200, '', lines(), body.text);
    expect(await wire.answer()).toMatchObject({ status: 200, body: 'ok' });
  });

  test('that is not read is dropped, and the next request is answered', async () => {
    const { stage, wire, call, ends } = await asked(sized(MUCH));
    call.respond(200, '', lines(), 'no');
    expect(await wire.answer()).toMatchObject({
      body: 'no',
      headers: { connection: 'keep-alive' },
    });
    expect(ends).toEqual([false]);
    expect(stage.served.server.inFlight).toBe(0);
    wire.send(Buffer.alloc(MUCH)).send(GET);
    expect((await wire.answer()).body).toBe('/a');
  });

  test('that is whole before a slow reader has its answer ends the call once it has', async () => {
    const { wire, call, ends } = await asked(sized(4, 'on'));
    wire.socket.pause();
    call.respond(200, '', lines(), Buffer.alloc(MUCH));
    call.dropBody();
    wire.send(`es${GET}`);
    await until('the body is whole', () => call.bodyWhole);
    expect(ends).toEqual([]);
    wire.socket.resume();
    expect((await wire.answer()).body).toHaveLength(MUCH);
    expect((await wire.answer()).body).toBe('/a');
    expect(ends).toEqual([false]);
  });

  test('that goes wrong behind its answer gets no second one', async () => {
    const { wire, call } = await asked(held(CHUNKED));
    call.respond(200, '', lines(), 'no');
    expect((await wire.answer()).body).toBe('no');
    wire.send(`zz\r\n${GET}`);
    expect(await wire.ended()).toBe('');
  });

  test('that goes wrong while a slow reader takes its answer does not cost it that', async () => {
    const { wire, call, ends } = await asked(held(CHUNKED));
    wire.socket.pause();
    call.respond(200, '', lines(), Buffer.alloc(MUCH));
    call.dropBody();
    wire.send(`zz\r\n${GET}`);
    wire.socket.resume();
    expect((await wire.answer()).body).toHaveLength(MUCH);
    expect(await wire.ended()).toBe('');
    expect(ends).toEqual([false]);
  });

  test('refused for good is read on for a while, so that its sender gets the answer', async () => {
    const { wire, call } = await asked(sized(MUCH));
    let reset = false;
    wire.socket.once('error', () => {
      reset = true;
    });
    call.keepAlive = false;
    call.respond(413, '', lines(), 'too large');
    wire.send(Buffer.alloc(MUCH / 4));
    expect(await wire.answer()).toMatchObject({ status: 413, headers: { connection: 'close' } });
    expect(await wire.ended()).toBe('');
    expect(reset).toBe(false);
  });

  test.each([
    ['malformed', held(CHUNKED, 'zz\r\n')],
    ['too_late', sized(4, 'on')],
  ])('that is %s fails, and its call can still be answered', async (fault, text) => {
    const { wire, call } = await asked(text, {
      requestTimeout: fault === 'too_late' ? 50 : 60_000,
    });
    const body = bodyOf(call);
    await until('it fails', () => body.outcome === fault);
    call.respond(400, '', lines(), fault);
    expect(await wire.answer()).toMatchObject({ body: fault, headers: { connection: 'close' } });
    expect(await wire.ended()).toBe('');
  });
});

describe('a caller that ends its side', () => {
  const nothing = () => {};
  const wait = (call: ServerCall) =>
    new Promise<void>((resolve) => {
      call.readBody({ chunk: () => false, end: resolve, fail: nothing });
    });
  const start = (call: ServerCall) => {
    call.begin(200, '', lines());
    call.write(Buffer.from('one'), nothing);
  };

  test.each<[when: string, text: string, before: (call: ServerCall, wire: Wire) => unknown]>([
    ['before its answer has begun', HELD, nothing],
    ['once all of a body that was asked to wait has come', sized(2, 'ok'), wait],
    ['before its answer, with requests behind it', HELD, (_, wire) => wire.send(GET.repeat(6))],
    ['when nothing follows the begin of its answer', HELD, start],
    ['the same with requests behind it', HELD + GET.repeat(20), start],
  ])('has left: %s', async (_when, text, before) => {
    const { wire, call, ends } = await asked(text);
    await before(call, wire);
    if (before === start) await wire.lines();
    wire.socket.end();
    await until('it has left', () => ends.length === 1);
    expect(ends).toEqual([true]);
    call.respond(200, '', lines(), 'the client has left');
  });

  test('while its answer is under way gets the rest of it', async () => {
    const { stage, wire, call, ends } = await asked();
    call.begin(200, '', lines());
    call.write(Buffer.from('one'), () => {});
    wire.socket.end();
    const other = await stage.connect();
    await other.send(GET).answer();
    call.write(Buffer.from('two'), () => {});
    call.end();
    expect((await wire.answer()).body).toBe('onetwo');
    expect(await wire.ended()).toBe('');
    expect(ends).toEqual([false]);
  });

  test('inside its body fails that', async () => {
    const { wire, call } = await asked(sized(4, 'on'));
    const body = bodyOf(call);
    wire.socket.end();
    await until('it fails', () => body.outcome === 'cut_off');
  });

  test('inside a body that is dropped, or between two requests, ends the connection', async () => {
    const { stage, wire, call } = await asked(sized(4, 'on'));
    call.respond(200, '', lines(), 'no');
    await wire.answer();
    const idle = await stage.connect();
    await idle.send(GET).answer();
    for (const one of [wire, idle]) {
      one.socket.end();
      expect(await one.ended()).toBe('');
    }
    await until('both connections have ended', () => stage.served.server.connections.size === 0);
  });

  test('inside a head gets a response', async () => {
    const wire = await (await Stage.open()).connect();
    wire.send(GET.slice(0, 20)).socket.end();
    expect(await wire.answer()).toMatchObject({ status: 400, body: 'cut_off' });
    expect(await wire.ended()).toBe('');
  });
});

describe('what comes too late', () => {
  const settings = { headersTimeout: 50, keepAliveTimeout: 50 };

  test.each([
    ['the first request of a connection', ''],
    ['a head, from its first byte', GET.slice(0, 20)],
  ])('is %s', async (_what, sent) => {
    const wire = await (await Stage.open(settings)).connect();
    expect(await wire.send(sent).answer()).toMatchObject({ status: 400, body: 'too_late' });
    expect(await wire.ended()).toBe('');
  });

  test('is the next request: its connection ends without a word', async () => {
    const wire = await (await Stage.open({ keepAliveTimeout: 50 })).connect();
    expect((await wire.send(GET).answer()).status).toBe(200);
    expect(await wire.ended()).toBe('');
  });

  test('is the rest of a body that is dropped: its connection ends without a word', async () => {
    const { wire, call } = await asked(sized(4, 'on'), { requestTimeout: 500 });
    call.respond(200, '', lines(), 'no');
    expect((await wire.answer()).body).toBe('no');
    expect(await wire.ended()).toBe('');
  });

  test('is not a request that came while this process stood still', async () => {
    const wire = await (await Stage.open({ keepAliveTimeout: 1_000 })).connect();
    expect((await wire.send(GET).answer()).status).toBe(200);
    wire.send(GET);
    blockEventLoop(1_500);
    expect((await wire.answer()).status).toBe(200);
  });

  test('is not an answer: it takes the time it needs', async () => {
    const { stage, wire, call } = await asked(HELD, {
      headersTimeout: 500,
      requestTimeout: 500,
      keepAliveTimeout: 500,
    });
    const late = await stage.connect();
    expect((await late.answer()).body).toBe('too_late');
    call.respond(200, '', lines(), 'in time');
    expect((await wire.answer()).body).toBe('in time');
  });
});

describe('an idle connection', () => {
  const opened = async (settings: Partial<ServerOptions> = {}) => {
    const places: Place[] = [];
    const stage = await Stage.open({
      ...settings,
      takes(_socket, enter) {
        const place = { occupant: null };
        places.push(place);
        enter(place);
      },
    });
    const wire = await stage.connect();
    await until('it is taken', () => places.length === 1);
    return { stage, wire, occupant: places[0]!.occupant! };
  };
  const isIdle = ({ idleSince }: Occupant) => idleSince <= performance.now() + 1_000;
  const POST = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n';

  test.each([
    ['that has sent nothing', '', 0],
    ['between two requests', GET, 1],
    ['inside a head', GET.slice(0, 9), 0],
    ['inside a head behind a request', GET + GET.slice(0, 9), 1],
    ['whose response did not wait for its body', POST, 1],
  ])('is one %s, and ends in good order', async (_which, sent, responses) => {
    const { wire, occupant } = await opened();
    wire.send(sent);
    for (let i = 0; i < responses; i++) expect((await wire.answer()).status).toBe(200);
    await until('it is idle', () => isIdle(occupant));
    expect(occupant.idleSince).toBeGreaterThan(performance.now() - 60_000);
    let reset = false;
    wire.socket.once('error', () => {
      reset = true;
    });
    occupant.endIdle();
    expect(isIdle(occupant)).toBe(false);
    expect(await wire.send(GET).ended()).toBe('');
    expect(reset).toBe(false);
  });

  test('does not end with a request in flight, a pending response, or a whole request behind it', async () => {
    const { stage, wire, occupant } = await opened();
    const held = HELD;
    wire.send(held + held);
    for (let i = 0; i < 2; i++) {
      const call = await stage.next(wire);
      expect(isIdle(occupant)).toBe(false);
      call.begin(200, '', lines());
      call.write(Buffer.from('part'), () => {});
      expect(isIdle(occupant)).toBe(false);
      call.end();
      await wire.answer();
    }
    await until('it is idle', () => isIdle(occupant));
  });

  test('is known from when its owner marks a call', async () => {
    const { stage, wire, occupant } = await opened();
    const call = await stage.next(wire.send(HELD));
    expect(occupant.known).toBe(false);
    call.connection.known = true;
    call.respond(200, '', lines(), '');
    await wire.answer();
    expect((await wire.send(GET).answer()).status).toBe(200);
    expect(occupant.known).toBe(true);
  });

  test('may be taken later, with what its client has sent', async () => {
    let enter = () => {};
    const stage = await Stage.open({
      takes(_socket, now) {
        enter = () => now({ occupant: null });
      },
    });
    const wire = (await stage.connect()).send(GET);
    const response = wire.answer();
    await until('it is accepted', () => {
      enter();
      return stage.served.server.connections.size === 1;
    });
    expect((await response).body).toBe('/a');
  });
});

describe('a server that stops', () => {
  test('says so with its answers, and ends what is quiet', async () => {
    const stage = await Stage.open();
    const [used, idle] = [await stage.connect(), await stage.connect()];
    expect((await idle.send(GET).answer()).headers.connection).toBe('keep-alive');
    stage.served.server.leave();
    expect((await used.send(GET + GET).answer()).headers.connection).toBe('keep-alive');
    expect((await used.answer()).headers.connection).toBe('close');
    expect(await used.ended()).toBe('');
    const late = await stage.connect();
    expect((await late.send(GET).answer()).headers.connection).toBe('close');
    await until('the quiet one has ended', () => {
      stage.served.server.endQuiet();
      return stage.served.server.connections.size === 0;
    });
    expect(await idle.ended()).toBe('');
  });
});

test('idle connections take little memory', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const memory = () => {
    for (let i = 0; i < 3; i++) collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const stage = await Stage.open();
  await (await stage.connect()).send(GET).answer();
  const before = memory();
  const COUNT = 500;
  const wires = await Promise.all(Array.from({ length: COUNT }, () => stage.connect()));
  await Promise.all(wires.map((wire) => wire.send(GET).answer()));
  expect(stage.served.server.connections.size).toBe(COUNT + 1);
  // Both sides are in this process.
  expect((memory() - before) / COUNT).toBeLessThan(48 * 1024);
});

describe('a caller that ends its side behind an invalid request', () => {
  test('gets its refusal, also if that comes later', async () => {
    const replies: Parameters<ServerOptions['refuse']>[1][] = [];
    const stage = await Stage.open({ refuse: (_error, reply) => void replies.push(reply) });
    const wire = await stage.connect();
    wire.send('GET  /a HTTP/1.1\r\nHost: a\r\n\r\n').socket.end();
    await until('it is found out', () => replies.length === 1);
    // After a whole exchange, the end of the other side has been read.
    expect((await (await stage.connect()).send(GET).answer()).status).toBe(200);
    replies[0]!.respond(400, lines(), 'refused');
    expect(await wire.answer()).toMatchObject({
      status: 400,
      body: 'refused',
      headers: { connection: 'close' },
    });
    expect(await wire.ended()).toBe('');
  });

  test('gets it in the middle of a body too', async () => {
    const { stage, wire, call } = await asked(held(CHUNKED, 'nonsense\r\n'));
    wire.socket.end();
    expect((await (await stage.connect()).send(GET).answer()).status).toBe(200);
    expect(call.bodyError).toBeInstanceOf(WireError);
    call.respond(400, '', lines(), 'refused');
    expect(await wire.answer()).toMatchObject({ status: 400, body: 'refused' });
  });
});

test('a body that is dropped while what has come of it is handed on stops there', async () => {
  const { wire, call } = await asked(held(CHUNKED, '1\r\na\r\n'));
  await until('the first read has come', () => call.bodyBytes === 1);
  const received: string[] = [];
  call.readBody({
    chunk(bytes) {
      received.push(bytes.toString());
      call.dropBody();
      return true;
    },
    end: () => void received.push('end'),
    fail: () => void received.push('fail'),
  });
  wire.send('1\r\nb\r\n0\r\n\r\n');
  await until('the body is whole', () => call.bodyWhole);
  expect(received).toEqual(['a']);
  call.respond(200, '', lines(), 'done');
  expect((await wire.answer()).body).toBe('done');
});
