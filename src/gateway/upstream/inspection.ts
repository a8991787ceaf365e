import type { Eventually } from '../../common/eventually.ts';
import { Gathering } from '../../common/gathering.ts';
import type { Operation } from '../../contract/contract.ts';
import type { Fault } from '../../errors/fault.ts';
import { Outage } from '../../errors/outage.ts';
import type { Report } from '../contract-reports.ts';
import type { Exchange } from '../exchange.ts';
import type { Checked } from '../results.ts';
import { type AnswerBody, BodyStream, EMPTY, fieldIn, type StoreAnswer } from './store-answer.ts';

/** A step between the store and the caller: answers what takes the place of the store's answer. */
export type Inspect = (exchange: Exchange, checked: Checked, stored: StoreAnswer) => Eventually<StoreAnswer>;

/** What happens to answers of the store that do not fit the contract: a setting, for staging. */
export interface InspectionParts {
  /** `off`: they pass as they come. `report`: they are told and passed on. `enforce`: they are told, and the caller gets 502. */
  readonly mode: 'off' | 'report' | 'enforce';
  /** A larger body is not checked, which is a fault by itself. */
  readonly maxBodyBytes: number;
  readonly report: Report;
}

/** Holds the store's answers against the contract, each once all of it is there. */
export function createInspection({ mode, maxBodyBytes, report }: InspectionParts): Inspect {
  if (mode === 'off') return (_exchange, _checked, stored) => stored;

  return async function inspect(exchange, { operation }, stored) {
    // The answer to HEAD has the headers of a body that does not come.
    if (exchange.method === 'HEAD') return stored;
    const body = stored.body instanceof BodyStream ? await gather(stored.body, maxBodyBytes) : stored.body;
    const faults = faultsIn(operation, stored, body);
    if (faults.length > 0) report(exchange, 'response', faults);
    if (faults.length === 0 || mode === 'report') return { ...stored, body };
    // What is still to come of a body that is too large is of no use.
    exchange.cancel?.();
    throw new Outage('upstream_error', { cause: 'the answer does not fit the contract' });
  };

  function faultsIn({ checkResponse }: Operation, { status, headers }: StoreAnswer, body: AnswerBody) {
    if (body instanceof BodyStream || body.length > maxBodyBytes)
      return [fault(`has a body of more than ${maxBodyBytes} bytes, too large to check`)];
    if (fieldIn(headers, 'content-encoding') !== undefined) return [fault('is encoded, although nobody asked for it')];
    return checkResponse(status, fieldIn(headers, 'content-type'), body);
  }
}

/** All of a body of at most `most` bytes; of a larger one a stream that begins with what was read of it. */
function gather(stream: BodyStream, most: number): Promise<AnswerBody> {
  return new Promise((resolve, reject) => {
    const gathered = new Gathering();
    let large: BodyStream | null = null;
    let paused = false;

    function goOnAsStream(): BodyStream {
      const flow = {
        pause: () => {
          paused = true;
        },
        resume: () => stream.resume(),
      };
      const begun = new BodyStream(flow);
      resolve(begun);
      return begun;
    }

    stream.to({
      chunk(bytes) {
        paused = false;
        if (large) {
          large.push(bytes);
          return !paused;
        }
        gathered.add(bytes);
        if (gathered.size <= most) return true;
        large = goOnAsStream();
        large.push(gathered.whole!);
        return !paused;
      },
      end: () => (large ? large.end() : resolve(gathered.whole ?? EMPTY)),
      fail: (error) => (large ? large.fail(error) : reject(error)),
    });
  });
}

function fault(message: string): Fault {
  return { in: 'body', pointer: '', message };
}
