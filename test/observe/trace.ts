import type { RequestTrace } from '../../src/observe/events.ts';

export function traceOf(given: Partial<RequestTrace> = {}): RequestTrace {
  return {
    path: null,
    subject: null,
    message: null,
    reason: null,
    faults: null,
    faultCount: 0,
    usage: null,
    admission: null,
    escalation: null,
    cost: 1,
    scopes: [],
    declared: 0,
    received: 0,
    sent: 0,
    authenticated: null,
    admitted: null,
    forwarded: null,
    backend: null,
    traceparent: null,
    ...given,
  };
}
