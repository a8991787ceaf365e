import { chmodSync, chownSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { PlanDraft } from '@storegate/admin-api';
import { changedPlan, replacePlans, withPlan } from '../../src/admin/plan-file.ts';
import { shippedFiles } from '../../src/config/load.ts';
import { parsePlans } from '../../src/config/plans.ts';
import { formatWindows } from '../../src/config/windows.ts';
import { temporaryFolders } from '../support/temporary.ts';

const shipped = readFileSync(shippedFiles.plans, 'utf8');
const APIS = ['notes', 'files'];

function put(text: string, name: string, draft: PlanDraft): string {
  return withPlan(text, changedPlan(name, parsePlans(text, APIS).plans.get(name), draft));
}

function limitsIn(text: string, name: string): string | null {
  const { windows } = parsePlans(text, APIS).plans.get(name)!;
  return windows && formatWindows(windows);
}

describe('a plan that is set', () => {
  test('leaves hundreds of plans with aliases as they are', () => {
    const aliases = Array.from({ length: 300 }, (_, i) => `  p${i}: *first\n`).join('');
    const text = `plans:\n  first: &first { custom: true }\n${aliases}`;
    const changed = put(text, 'other', { limits: '5/minute' });
    expect(changed.startsWith(text)).toBe(true);
    expect(limitsIn(changed, 'other')).toBe('5/minute');
  });

  test.each<[PlanDraft, string | null]>([
    [{ limits: '30/minute' }, '30/minute,1000/day'],
    [{ limits: '30/60s' }, '30/60s,1000/day'],
    [{ limits: '5/hour' }, '60/minute,5/hour,1000/day'],
    [{ limits: '30/minute', drop: ['day'] }, '30/minute'],
    [{ drop: ['day'] }, '60/minute'],
    [{ count: 'account' }, '60/minute,1000/day'],
    [{ limits: null }, null],
  ])('keeps the fields that %j does not name', (draft, limits) => {
    expect(limitsIn(put(shipped, 'free', draft), 'free')).toBe(limits);
  });

  test.each<[before: string, draft: PlanDraft, after: string]>([
    ['9/day+watch', { limits: '7/day' }, '7/day+watch'],
    ['9/day+watch', { limits: '7/day+overage' }, '7/day+overage'],
    ['9/day:sliding', { limits: '7/day' }, '7/day:sliding'],
    ['9/1m:sliding+watch', { limits: '7/minute' }, '7/minute:sliding+watch'],
    [
      '9/week:calendar:Asia/Tokyo:7+watch',
      { limits: '7/week:calendar' },
      '7/week:calendar:Asia/Tokyo:7+watch',
    ],
    [
      '9/week:calendar:Asia/Tokyo:7',
      { limits: '7/week:calendar:Europe/Berlin' },
      '7/week:calendar:Europe/Berlin:7',
    ],
    [
      '9/week:calendar:Asia/Tokyo:7',
      { limits: '7/week:calendar:Asia/Tokyo:2+overage' },
      '7/week:calendar:Asia/Tokyo:2+overage',
    ],
    ['9/day:calendar:Europe/Berlin+watch', { limits: '7/day:sliding' }, '7/day:sliding+watch'],
    ['9/day+watch', { limits: '7/day', drop: ['day'] }, '7/day'],
    ['9/day,8/day@notes+watch', { limits: '7/day@notes' }, '9/day,7/day@notes+watch'],
    ['9/day,8/day@notes', { drop: ['day@notes'] }, '9/day'],
    ['9/day,8/day@notes', { drop: ['day'] }, '8/day@notes'],
  ])('with %s keeps of a window what %j does not name', (before, draft, after) => {
    const text = put(shipped, 'gold', { limits: before });
    expect(limitsIn(put(text, 'gold', draft), 'gold')).toBe(after);
  });

  test('keeps that all windows of a plan watch', () => {
    const text = 'plans:\n  own: { enforce: false, windows: [{ limit: 9, per: day }] }\n';
    expect(limitsIn(put(text, 'own', { limits: '7/day,2/minute' }), 'own')).toBe(
      '2/minute,7/day+watch',
    );
  });

  test('keeps its concurrency unless another number is given, and a custom plan stays custom', () => {
    const of = (text: string, name = 'free') => parsePlans(text, APIS).plans.get(name)!;
    const text = put(put(shipped, 'free', { concurrency: 20 }), 'free', { limits: '7/minute' });
    expect(of(text)).toMatchObject({ concurrency: 20, weight: 1 });
    expect(of(put(text, 'free', { weight: 3, count: 'account' }))).toMatchObject({
      concurrency: 20,
      weight: 3,
    });
    expect(of(put(text, 'free', { concurrency: null }))).not.toHaveProperty('concurrency');
    expect(of(put(text, 'enterprise', { concurrency: 200 }), 'enterprise')).toMatchObject({
      windows: null,
      concurrency: 200,
      weight: 16,
    });
  });

  test('keeps its workers unless others are given, or again those of its limits', () => {
    const workersIn = (text: string) => parsePlans(text, APIS).plans.get('free')!.workers;
    const text = put(put(shipped, 'free', { workers: 20 }), 'free', { limits: '7/minute' });
    expect(workersIn(text)).toBe(20);
    expect(workersIn(put(text, 'free', { workers: 30 }))).toBe(30);
    expect(workersIn(put(text, 'free', { workers: null }))).toBeUndefined();
  });

  test('keeps its address lists unless others are given', () => {
    const of = (text: string, name = 'free') => parsePlans(text, APIS).plans.get(name)!.addresses;
    const addresses = { allow: ['198.51.100.0/24', '2001:db8::/32'], deny: ['198.51.100.66'] };
    const text = put(shipped, 'free', { addresses });
    expect(text).toContain(
      'allow: [ 198.51.100.0/24, 2001:db8::/32 ]\n      deny: [ 198.51.100.66 ]\n',
    );
    expect(of(text)).toEqual(addresses);
    expect(of(put(text, 'free', { limits: '7/minute', concurrency: 3 }))).toEqual(addresses);
    expect(of(put(text, 'free', { addresses: { deny: ['::1'] } }))).toEqual({
      allow: [],
      deny: ['::1'],
    });
    for (const none of [null, {}, { allow: [], deny: [] }])
      expect(of(put(text, 'free', { addresses: none }))).toBeUndefined();
    expect(of(put(text, 'pro', { limits: '7/minute' }), 'pro')).toBeUndefined();
  });

  test.each(['free', 'business', 'enterprise', 'pro'])(
    'leaves all other lines byte for byte unchanged: %s',
    (name) => {
      const odd = shipped
        .replace('  pro:\n', '  pro:   # ours,   as  it is\n\n')
        .replace('durations: [1m,', 'durations: [ 1m,');
      const lines = (text: string) => text.split('\n');
      const before = lines(odd);
      const after = lines(put(odd, name, { limits: '7/minute,8/day' }));
      const start = before.findIndex((line) => line.startsWith(`  ${name}:`));
      const next = before.findIndex(
        (line, at) => at > start && /^ {0,2}\S|^$/.test(line) && before[at - 1] !== before[start],
      );
      expect(after.slice(0, start)).toEqual(before.slice(0, start));
      expect(after.slice(next - before.length)).toEqual(before.slice(next));
    },
  );

  test('is appended if it is new', () => {
    const text = put(shipped, 'gold', { limits: '9/minute' });
    expect(text.replace('  gold:\n    windows:\n      - { limit: 9, per: minute }\n', '')).toBe(
      shipped,
    );
  });

  test('is found in a file of another style too, with its comments', () => {
    const text = put(
      '# Ours.\nplans: { free: { windows: [{ limit: 3, per: minute }] } } # all\n',
      'free',
      {
        limits: '9/day',
      },
    );
    expect(limitsIn(text, 'free')).toBe('3/minute,9/day');
    expect(text).toMatch(/^# Ours\.[\s\S]*# all/);
  });
});

describe('a new text', () => {
  const folder = temporaryFolders({ keep: true })();
  const file = join(folder, 'plans.yaml');

  test('replaces the file, whose mode and owner stay, and leaves no other file', async () => {
    writeFileSync(file, shipped);
    const isRoot = process.getuid!() === 0;
    if (isRoot) chownSync(file, 4_711, 4_712);
    // A umask would not give this mode to a new file.
    chmodSync(file, 0o664);
    const before = statSync(file);
    await replacePlans(file, put(shipped, 'free', { limits: '7/minute' }));
    const after = statSync(file);
    expect(limitsIn(readFileSync(file, 'utf8'), 'free')).toBe('7/minute,1000/day');
    expect([after.mode, after.uid, after.gid]).toEqual([before.mode, before.uid, before.gid]);
    expect(readdirSync(folder)).toEqual(['plans.yaml']);
  });

  test('is checked without a file', () => {
    const { TMPDIR } = process.env;
    process.env.TMPDIR = '/does-not-exist';
    try {
      expect(parsePlans(shipped, APIS).plans.has('free')).toBe(true);
    } finally {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    }
  });

  test.each([
    ['plans:\n  free: { windows: [] }\n', /plans\.yaml:2:.*plans\.free\.windows/],
    ['plans: {', /plans\.yaml:1/],
    [`${shipped}#${'x'.repeat(1024 * 1024)}`, /plans\.yaml: must be at most 1 ?MiB/],
  ])('with a mistake is refused with its place: %.30j', (text, message) => {
    expect(() => parsePlans(text, APIS)).toThrow(message);
  });
});
