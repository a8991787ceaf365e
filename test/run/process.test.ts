import { expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/load.ts';
import { admit } from '../../src/limits/admission.ts';
import { newCounters } from '../../src/limits/counters.ts';
import type { Event, RequestTrace } from '../../src/observe/events.ts';
import { openListeners } from '../../src/run/process.ts';
import { textOf } from '../support/exposition.ts';
import { CARRYING } from '../support/gauges.ts';
import { limits, MINUTE, window } from '../support/limits.ts';
import { requestEvent } from '../support/request-event.ts';

test('every listener of a process receives the events of a request', async () => {
  const logged: Event[] = [];
  const others: Event[] = [];
  const parts = {
    config: loadConfig({ env: {}, cwd: import.meta.dirname }),
    worker: 2,
    clock: Date.now,
    log: { observe: (event: Event) => void logged.push(event), droppedLines: 3, close: () => {} },
    others: [(event: Event) => void others.push(event)],
  };
  const { health, metrics, recent, ledger, observe } = await openListeners(
    parts,
    CARRYING,
    () => [],
  );
  const windows = [window(5, MINUTE)];
  const admission = admit(newCounters(windows), limits(windows), 1, Date.now());
  const trace = { subject: 'key:key_1', admission, usage: admission, cost: 1, scopes: [] };
  const request = requestEvent({ id: 'r1', trace: trace as unknown as RequestTrace });
  observe(request);
  observe({ type: 'state.responded', duration: 1 });

  expect(logged[0]).toBe(request);
  expect(others[0]).toBe(request);
  expect(health.ofState.stateTime).toBe(1);
  expect(await textOf(metrics)).toContain(
    'storegate_requests_total{operation="listPets",method="GET",status="200"} 1',
  );
  expect(await textOf(metrics)).toContain('storegate_log_lines_dropped_total 3');
  expect(recent.explain('r1')).not.toBeNull();
  expect(ledger.recorder.total[0]).toBe(1);
});
