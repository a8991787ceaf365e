import { expect, test } from '@jest/globals';
import { BodyStream } from '@storegate/http1';
import { createSharedBudget } from '../../../src/common/shared-budget.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import { createRelay } from '../../../src/gateway/reply/relay.ts';
import type { Reply } from '../../../src/gateway/reply/reply.ts';
import { foundClient } from '../../support/exchange.ts';
import { lines } from '../../support/lines.ts';

test('what is read ahead of a slow client stays as it came, though its buffer is used again', () => {
  const written: string[] = [];
  let drained = () => {};
  const call = {
    begin: () => {},
    flush: () => {},
    whenEnded: () => {},
    end: () => written.push('end'),
    write(bytes: Buffer, drain: () => void) {
      written.push(bytes.toString());
      drained = drain;
      return written.length > 1;
    },
  };
  const relay = createRelay({ fields: () => lines() } as unknown as Reply, createSharedBudget(100));
  const body = new BodyStream({ pause: () => {}, resume: () => {} });
  relay({ call, client: foundClient() } as unknown as Exchange, {
    status: 200,
    reason: '',
    headers: [],
    body,
  });
  const buffer = Buffer.from('one');
  for (const text of ['one', 'two', 'six']) {
    buffer.write(text);
    body.push(buffer);
  }
  body.end();
  expect(written).toEqual(['one']);
  drained();
  expect(written).toEqual(['one', 'two', 'six', 'end']);
});
