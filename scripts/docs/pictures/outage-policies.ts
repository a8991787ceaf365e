import { box, picture, text } from './svg.ts';

const WIDTH = 860;
const LEFT = 90;
const ROW = 46;
const TOP = 40;
const OUTAGE = { from: 300, to: 620 };

/** What each gateway does with a request whose key it knows. */
const POLICIES = [
  { name: 'local', kind: 'warn', meanwhile: 'counts its share in memory' },
  { name: 'deny', kind: 'bad', meanwhile: '503 with Retry-After' },
  { name: 'allow', kind: 'good', meanwhile: 'admits all, counts none' },
] as const;

/** What `redis.onOutage` decides. */
export function outagePolicies(): string {
  const rows = POLICIES.flatMap(({ name, kind, meanwhile }, i) => {
    const y = TOP + i * ROW;
    const middle = (from: number, to: number, content: string) =>
      text((from + to) / 2, y + 21, content, { class: 'light', 'text-anchor': 'middle' });
    return [
      text(LEFT - 8, y + 21, name, { 'text-anchor': 'end' }),
      box('plain', [LEFT, y, OUTAGE.from - LEFT, 32]),
      middle(LEFT, OUTAGE.from, 'counts in Redis'),
      box(kind, [OUTAGE.from, y, OUTAGE.to - OUTAGE.from, 32]),
      middle(OUTAGE.from, OUTAGE.to, meanwhile),
      box('plain', [OUTAGE.to, y, WIDTH - OUTAGE.to, 32]),
      middle(OUTAGE.to, WIDTH, 'counts in Redis'),
    ];
  });
  const centred = { 'text-anchor': 'middle' };
  return picture('What a gateway does while Redis is down', WIDTH, TOP + POLICIES.length * ROW, [
    text((LEFT + OUTAGE.from) / 2, 24, 'Redis is up', centred),
    text((OUTAGE.from + OUTAGE.to) / 2, 24, 'Redis is down', centred),
    text((OUTAGE.to + WIDTH) / 2, 24, 'Redis is up again', centred),
    ...rows,
  ]);
}
