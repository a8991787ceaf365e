import { box, line, picture, text } from './svg.ts';

const WIDTH = 860;
const HEIGHT = 230;
const BOX = { width: 150, height: 44 };

interface Place {
  readonly name: string;
  readonly note: string;
  readonly x: number;
  readonly y: number;
}

const CLIENTS = { name: 'clients', note: 'X-API-Key', x: 0, y: 93 };
const BALANCER = { name: 'load balancer', note: 'checks /ready', x: 225, y: 93 };
const FIRST = { name: 'storegate', note: 'data, key cache', x: 460, y: 30 };
const SECOND = { name: 'storegate', note: 'data-2, key cache', x: 460, y: 156 };
const REDIS = { name: 'Redis', note: 'keys, counters, bans', x: 700, y: 30 };
const BACKENDS = { name: 'backends', note: 'valid requests only', x: 700, y: 156 };

const ARROWS: readonly (readonly [Place, Place])[] = [
  [CLIENTS, BALANCER],
  [BALANCER, FIRST],
  [BALANCER, SECOND],
  [FIRST, REDIS],
  [FIRST, BACKENDS],
  [SECOND, REDIS],
  [SECOND, BACKENDS],
];

/** Two gateways that count together. */
export function twoGateways(): string {
  const places = [CLIENTS, BALANCER, FIRST, SECOND, REDIS, BACKENDS];
  const middle = ({ y }: Place) => y + BOX.height / 2;
  return picture('Two gateways share one Redis', WIDTH, HEIGHT, [
    ...ARROWS.map(([from, to]) =>
      line([
        [from.x + BOX.width, middle(from)],
        [to.x, middle(to)],
      ]),
    ),
    ...places.flatMap(({ name, note, x, y }) => [
      box('frame', [x + 1, y, BOX.width, BOX.height]),
      text(x + 10, y + 18, name),
      text(x + 10, y + 35, note, { class: 'small' }),
    ]),
  ]);
}
