import type { Dispatcher } from 'undici';
import type { Operation } from '../../contract/contract.ts';
import type { Fault } from '../../errors/fault.ts';
import { Outage } from '../../errors/outage.ts';
import type { Report } from '../contract-reports.ts';
import type { Exchange } from '../exchange.ts';

/** What happens to answers of the store that do not fit the contract: a setting, for staging. */
export interface Inspection {
  /** `report`: they are told and passed on. `enforce`: they are told, and the caller gets 502. */
  readonly mode: 'report' | 'enforce';
  /** A larger body is not checked, which is a fault by itself. */
  readonly maxBodyBytes: number;
  readonly report: Report;
}

type Controller = Dispatcher.DispatchController;
type Headers = Record<string, string | string[] | undefined>;

/** Where an answer goes next. */
export interface AnswerSink {
  onRequestStart(controller: Controller): void;
  onResponseStarted(): void;
  onResponseStart(controller: Controller, status: number, headers: Headers, reason?: string): void;
  onResponseData(controller: Controller, chunk: Buffer): void;
  onResponseEnd(controller: Controller): void;
  onResponseError(controller: Controller, error: Error): void;
}

interface HeldHead {
  readonly status: number;
  readonly headers: Headers;
  readonly reason: string | undefined;
}

/** Holds an answer back until all of it is there, checks it, and lets `sink` have it where it may. */
export class Inspector implements AnswerSink {
  readonly #sink: AnswerSink;
  readonly #exchange: Exchange;
  readonly #operation: Operation;
  readonly #inspection: Inspection;
  #head: HeldHead | null = null;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(sink: AnswerSink, exchange: Exchange, operation: Operation, inspection: Inspection) {
    this.#sink = sink;
    this.#exchange = exchange;
    this.#operation = operation;
    this.#inspection = inspection;
  }

  onRequestStart(controller: Controller): void {
    this.#sink.onRequestStart(controller);
  }

  onResponseStarted(): void {
    this.#sink.onResponseStarted();
  }

  onResponseStart(controller: Controller, status: number, headers: Headers, reason?: string): void {
    if (status >= 200) this.#head = { status, headers, reason };
    if (this.#exchange.method === 'HEAD') this.#release(controller);
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    if (this.#head === null) {
      this.#sink.onResponseData(controller, chunk);
      return;
    }
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size <= this.#inspection.maxBodyBytes) return;
    this.#judge(controller, [
      fault(`has a body of more than ${this.#inspection.maxBodyBytes} bytes, too large to check`),
    ]);
  }

  onResponseEnd(controller: Controller): void {
    if (this.#head !== null && !this.#judge(controller, this.#faults(this.#head))) return;
    this.#sink.onResponseEnd(controller);
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#sink.onResponseError(controller, error);
  }

  #faults({ status, headers }: HeldHead): readonly Fault[] {
    if (headers['content-encoding'] !== undefined) return [fault('is encoded, although nobody asked for it')];
    const type = headers['content-type'];
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    return this.#operation.checkResponse(status, Array.isArray(type) ? type.join() : type, body);
  }

  /** Tells the faults, and lets the answer go on or puts a failure in its place; answers which. */
  #judge(controller: Controller, faults: readonly Fault[]): boolean {
    if (faults.length > 0) this.#inspection.report(this.#exchange, 'response', faults);
    if (faults.length === 0 || this.#inspection.mode === 'report') {
      this.#release(controller);
      return true;
    }
    this.#head = null;
    const outage = new Outage('upstream_error', { cause: 'the answer does not fit the contract' });
    if (this.#size > this.#inspection.maxBodyBytes) controller.abort(outage);
    else this.#sink.onResponseError(controller, outage);
    return false;
  }

  #release(controller: Controller): void {
    if (this.#head === null) return;
    const { status, headers, reason } = this.#head;
    this.#head = null;
    this.#sink.onResponseStart(controller, status, headers, reason);
    for (const chunk of this.#chunks.splice(0)) this.#sink.onResponseData(controller, chunk);
  }
}

const fault = (message: string): Fault => ({ in: 'body', pointer: '', message });
