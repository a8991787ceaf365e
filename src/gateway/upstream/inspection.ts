import { BodyStream, ByteBuffer, EMPTY } from '@storegate/http1';
import { atOnce } from '@storegate/openapi';
import { Outage } from '../../common/errors/outage.ts';
import { fieldIn } from '../../common/field-list.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import type { Operation } from '../../config/contract/contract.ts';
import { faultOfBody, type Report } from '../contract-reports.ts';
import type { Exchange } from '../exchange.ts';
import type { Checked } from '../results.ts';
import type { LargeChecks } from '../stages/large-checks.ts';
import type { BackendResponse, ResponseBody } from './backend-response.ts';

export type Inspect = (
  exchange: Exchange,
  checked: Checked,
  stored: BackendResponse,
) => MaybePromise<BackendResponse>;

/** Intended for staging. */
interface InspectionParts {
  /** `enforce`: 502. */
  readonly mode: 'off' | 'report' | 'enforce';
  /** In bytes. A larger body counts as a fault. */
  readonly maxBodyBytes: number;
  readonly largeChecks: LargeChecks;
  readonly report: Report;
}

export function createInspection({
  mode,
  maxBodyBytes,
  largeChecks,
  report,
}: InspectionParts): Inspect {
  if (mode === 'off') return (_exchange, _checked, stored) => stored;

  return async function inspect(
    exchange,
    { client, route: { operation } },
    stored,
  ) {
    // A response to HEAD has the headers of a body that is not sent.
    if (operation === null || exchange.call.method === 'HEAD') return stored;
    if (isEventStream(stored)) return stored;
    await operation.ready('response');
    const body =
      stored.body instanceof BodyStream
        ? await gather(stored.body, maxBodyBytes)
        : stored.body;
    const steps = () => faultsIn(operation, stored, body);
    const faults =
      body instanceof BodyStream
        ? atOnce(steps())
        : await largeChecks.inTurn(exchange, client.owner, body, {
            check: () => atOnce(steps()),
            steps,
          });
    if (faults.length === 0) return { ...stored, body };
    const tolerated =
      mode === 'report' || operation.reportOnly || operation.exempt !== null;
    report(exchange, 'response', faults, tolerated ? 'none' : 'refused');
    if (tolerated) return { ...stored, body };
    exchange.cancel?.();
    throw new Outage('upstream_error', {
      cause: 'the response violates the contract',
    });
  };

  function* faultsIn(
    operation: Operation,
    { status, headers }: BackendResponse,
    body: ResponseBody,
  ) {
    if (body instanceof BodyStream || body.length > maxBodyBytes) {
      const message = `has a body of more than ${maxBodyBytes} bytes, too large to check`;
      return [{ ...faultOfBody(message, 'size'), limit: maxBodyBytes }];
    }
    const encoding = fieldIn(headers, 'content-encoding')?.trim().toLowerCase();
    if (encoding !== undefined && encoding !== 'identity')
      return [faultOfBody('is encoded without a request for it', 'mediaType')];
    return yield* operation.responseSteps(
      status,
      fieldIn(headers, 'content-type'),
      body,
    );
  }
}

/** It may never end, and clients wait for each event. */
const isEventStream = ({ headers }: BackendResponse) =>
  /^text\/event-stream(?:;|$)/i.test(fieldIn(headers, 'content-type') ?? '');

/** A larger body becomes a stream. */
function gather(stream: BodyStream, most: number): Promise<ResponseBody> {
  return new Promise((resolve, reject) => {
    const gathered = new ByteBuffer();
    let large: BodyStream | null = null;
    let paused = false;

    stream.to({
      chunk(bytes) {
        paused = false;
        if (large) {
          large.push(bytes);
          return !paused;
        }
        gathered.add(bytes);
        if (gathered.size <= most) return true;
        large = new BodyStream({
          pause: () => {
            paused = true;
          },
          resume: () => stream.resume(),
        });
        resolve(large);
        large.push(gathered.whole!);
        return !paused;
      },
      end: () => (large ? large.end() : resolve(gathered.whole ?? EMPTY)),
      fail: (error) => (large ? large.fail(error) : reject(error)),
    });
  });
}
