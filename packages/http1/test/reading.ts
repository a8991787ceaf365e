import {
  type Head,
  type RequestHead,
  RequestHeads,
  type ResponseHead,
  ResponseHeads,
} from '../src/heads.ts';
import { MessageReader } from '../src/reader.ts';
import { WireError, type WireFault } from '../src/wire-error.ts';

/** Few, so that tests of limits are short. */
export const MOST_HEAD_BYTES = 2_048;

/** One character per byte. */
export interface Understood<H extends Head> {
  readonly head: H;
  body: string;
  whole: boolean;
}

/** Up to the end or the first fault. */
export interface Reading<H extends Head> {
  readonly messages: Understood<H>[];
  /** `null` if it did not stop, or after the last message of the connection. */
  fault: WireFault | null;
  /** Up to the end of the last whole message. */
  taken: number;
}

interface Kind<H extends Head> {
  readonly parse: (text: string) => H;
  /** The connection is not read after this message. */
  readonly isLast: (head: H) => boolean;
}

export interface ReadingOptions {
  /** Whether the sender closes the connection after the bytes. */
  readonly ends?: boolean;
  readonly skipsEmptyLine?: boolean;
  readonly mostHeadBytes?: number;
}

function read<H extends Head>(
  { parse, isLast }: Kind<H>,
  pieces: readonly string[],
  { ends = false, skipsEmptyLine = true, mostHeadBytes = MOST_HEAD_BYTES }: ReadingOptions = {},
): Reading<H> {
  const reading: Reading<H> = { messages: [], fault: null, taken: 0 };
  let behind = false;
  const sink = {
    head: (head: H) => {
      reading.messages.push({ head, body: '', whole: false });
    },
    body: (bytes: Buffer) => {
      reading.messages.at(-1)!.body += bytes.toString('latin1');
    },
    end: () => {
      reading.messages.at(-1)!.whole = true;
      behind = true;
    },
  };
  const reader = new MessageReader<H>({ parse, sink, skipsEmptyLine, mostHeadBytes });
  let fed = 0;
  const resume = () => {
    while (behind) {
      behind = false;
      reading.taken = fed - reader.waiting;
      const { head } = reading.messages.at(-1)!;
      if (head.persistent && !isLast(head)) reader.next();
      else reader.stop();
    }
  };
  try {
    for (const piece of pieces) {
      fed += piece.length;
      reader.feed(Buffer.from(piece, 'latin1'));
      resume();
    }
    if (ends) reader.finish();
    resume();
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    reading.fault = error.fault;
  }
  return reading;
}

/** llhttp stops after CONNECT and after each head that requests an upgrade. */
export function isTunnel({ method, fields: { list } }: RequestHead): boolean {
  const says = (name: string, value: RegExp) =>
    list.some((one, i) => i % 2 === 0 && one.toLowerCase() === name && value.test(list[i + 1]!));
  return method === 'CONNECT' || (says('connection', /upgrade/i) && says('upgrade', /^/));
}

/** Up to the first request that may end in a tunnel. */
export function readRequests(
  pieces: readonly string[],
  options?: ReadingOptions,
): Reading<RequestHead> {
  const heads = new RequestHeads();
  return read({ parse: (text) => heads.read(text), isLast: isTunnel }, pieces, options);
}

/** With interim responses. After 101 nothing is HTTP. */
export function readAnswers(
  pieces: readonly string[],
  { method = 'GET', ...options }: ReadingOptions & { readonly method?: string } = {},
): Reading<ResponseHead> {
  const heads = new ResponseHeads();
  const kind = { parse: (text: string) => heads.read(text, method), isLast: isFinal };
  return read(kind, pieces, { skipsEmptyLine: false, ...options });
}

export function isFinal({ status }: ResponseHead): boolean {
  return status >= 200 || status === 101;
}
