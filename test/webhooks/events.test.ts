import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { WEBHOOK_SCHEMA } from '@storegate/admin-api/files';
import { schemaOf } from '../../src/config/schema/schema.ts';
import type { Event } from '../../src/observe/events.ts';
import { createDetector, type Detection } from '../../src/webhooks/detector.ts';
import { messageOf, WEBHOOK_TYPES } from '../../src/webhooks/event.ts';
import { createIncidents } from '../../src/webhooks/incidents.ts';
import { limits, MINUTE, window } from '../support/limits.ts';
import { faultsOfEvent } from '../support/receiver.ts';

const { definitions } = JSON.parse(readFileSync(WEBHOOK_SCHEMA, 'utf8')) as {
  definitions: Record<string, { example: unknown }>;
};
const T = Date.UTC(2026, 0, 1);

function eventsOf(...events: readonly Event[]): { type: string; data: Record<string, unknown> }[] {
  const received: Detection[] = [];
  const detect = createDetector({
    quota: 1,
    gateway: 'gw-1',
    clock: () => T,
    onDetection: (one) => void received.push(one),
  });
  for (const event of events) detect(event);
  const incidents = createIncidents('gw-1');
  const found = received.map((one) => ('sight' in one ? incidents.see(one, null)! : one));
  return found.map((one) => JSON.parse(messageOf(one).body));
}

describe('the schema of events', () => {
  test('has the configurable types, and the test', () => {
    const { enum: types } = schemaOf('gateway').definitions!.webhookEvent!;
    expect(types).toEqual(WEBHOOK_TYPES);
    expect(Object.keys(definitions)).toEqual([...WEBHOOK_TYPES, 'test']);
  });

  test.each(Object.entries(definitions))('fits its example of %s', (_, { example }) => {
    expect(faultsOfEvent(example)).toEqual([]);
    const { data, ...rest } = example as { data: object };
    expect(faultsOfEvent(rest)).not.toEqual([]);
    expect(faultsOfEvent({ ...rest, data: {} })).not.toEqual([]);
  });
});

const ban = {
  type: 'ban.started',
  ban: {
    subject: 'key:key_1',
    at: T,
    until: T + MINUTE,
    level: 1,
    violated: limits([window(3, MINUTE)]).windows[0]!,
    strikes: 3,
  },
  strike: { plan: 'free', operation: 'listPets', requestId: 'r1' },
} as const satisfies Event;

describe('an event', () => {
  test.each<[string, Event[], object]>([
    [
      'ban.started',
      [ban],
      {
        key: 'key_1',
        plan: 'free',
        limit: '3/minute',
        strikes: 3,
        level: 1,
        operation: 'listPets',
      },
    ],
    [
      'ban.started',
      [{ ...ban, ban: { ...ban.ban, subject: 'account:team:acme', violated: null }, strike: null }],
      { account: 'acme', plan: 'team' },
    ],
    ['key.first_used', [{ type: 'key.first_used', keyId: 'key_1', at: T }], { key: 'key_1' }],
    [
      'reload.failed',
      [{ type: 'reload.failed', reason: 'r', problems: ['p'] }],
      { problems: ['p'], omitted: 0 },
    ],
    [
      'health.changed',
      [{ type: 'health.changed', before: 'ok', status: 'down', reasons: ['It fails.'] }],
      { before: 'ok', status: 'down', reasons: ['It fails.'] },
    ],
    [
      'state.down',
      [{ type: 'state.outage', policy: 'deny', error: new Error('gone') }],
      { policy: 'deny', reason: 'gone' },
    ],
    [
      'upstream.down',
      [
        {
          type: 'upstream.down',
          upstream: 'default',
          backend: 'a:80',
          reason: 'check',
          error: new Error('refused'),
        },
      ],
      { upstream: 'default', backend: 'a:80', reason: 'check', error: 'refused' },
    ],
  ])('of %s fits the schema: %j', (type, events, data) => {
    const [event, ...more] = eventsOf(...events);
    expect(more).toEqual([]);
    expect(faultsOfEvent(event)).toEqual([]);
    expect(event).toMatchObject({ type, data });
  });

  test('for an outage and its end is valid too', () => {
    const all = eventsOf(
      { type: 'state.outage', policy: 'local', error: 'gone' },
      { type: 'upstream.down', upstream: 'u', backend: 's:1', reason: 'check' },
      { type: 'state.recovered', duration: 5 },
      { type: 'upstream.up', upstream: 'u', backend: 's:1', duration: 5 },
    );
    expect(all.map(({ type }) => type)).toEqual([
      'state.down',
      'upstream.down',
      'state.up',
      'upstream.up',
    ]);
    expect(all.flatMap(faultsOfEvent)).toEqual([]);
  });

  test('is bounded, however long mistakes are', () => {
    const problems = Array.from({ length: 500 }, (_, i) => `${i} ${'x'.repeat(5_000)}`);
    const [event] = eventsOf({ type: 'reload.failed', reason: 'r'.repeat(5_000), problems });
    expect(faultsOfEvent(event)).toEqual([]);
    expect(JSON.stringify(event).length).toBeLessThan(10_000);
    expect(event!.data.omitted).toBe(480);
  });

  test('has an opaque id that is valid in a signature', () => {
    for (const identity of ['a.b', 'key_1', '𝄞'])
      expect(
        messageOf({
          type: 'test',
          at: T,
          data: {},
          identity,
          once: { name: '', since: 0, until: 0 },
        }).id,
      ).toMatch(/^msg_[A-Za-z0-9_-]{32}$/);
  });
});
