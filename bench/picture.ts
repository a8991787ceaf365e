import { type Html, html } from '@storegate/pages';
import type { Comparison, Result } from './comparison.ts';
import { type Work, works } from './work.ts';

const WIDTH = 860;
const LEFT = 330;
const RIGHT = 110;
const BAR = 16;
const ROW = 24;
const HEAD = 44;

/** CPU per request, with Redis's share apart. Colours follow the reader's scheme. */
export function toSvg({ results, machine }: Comparison): string {
  const longest = Math.max(...results.map(total));
  let y = 12;
  const drawn: Html[] = [];
  for (const work of works) {
    const rows = results.filter((result) => result.work === work.name);
    if (rows.length === 0) continue;
    drawn.push(group(work, rows, y, longest));
    y += HEAD + rows.length * ROW + 12;
  }
  const caption = `CPU µs per request, medians; node ${machine.versions.node}, ${machine.processor}, ${machine.date}`;
  const svg = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 24}" role="img" aria-label="${caption}">
<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.head { font-weight: 600 } .small { font-size: 12px; fill: #59636e }
.peer { fill: #8c959f } .own { fill: #0969da } .redis { fill: #bc4c00 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small { fill: #9198a1 }
  .peer { fill: #6e7681 } .own { fill: #4493f8 } .redis { fill: #db6d28 }
}
</style>
${drawn}<text class="small" x="0" y="${y + 12}">${caption}</text>
</svg>
`;
  return svg.text;
}

function group(work: Work, rows: readonly Result[], y: number, longest: number): Html {
  const legend = rows.some(({ redisCpu }) => redisCpu.median > 0)
    ? html`<rect class="redis" x="${WIDTH - 64}" y="${y + 3}" width="11" height="11"/><text x="${WIDTH - 48}" y="${y + 13}">Redis</text>\n`
    : null;
  const sorted = [...rows].sort((a, b) => total(a) - total(b));
  const bars = sorted.map((row, i) => bar(row, y + HEAD - ROW + 6 + i * ROW, longest));
  return html`<text class="head" x="0" y="${y + 13}">${work.title}</text>
${legend}${bars}`;
}

function bar(row: Result, y: number, longest: number): Html {
  const scale = (value: number) => Math.round(((WIDTH - LEFT - RIGHT) * value * 10) / longest) / 10;
  const own = scale(row.cpu.median);
  const redis = scale(row.redisCpu.median);
  const base = y + BAR - 4;
  const figure =
    row.redisCpu.median > 0
      ? `${row.cpu.median.toFixed(0)} + ${row.redisCpu.median.toFixed(0)}`
      : row.cpu.median.toFixed(0);
  return html`<text x="${LEFT - 8}" y="${base}" text-anchor="end">${row.title}</text>
<rect class="${row.target.startsWith('storegate') ? 'own' : 'peer'}" x="${LEFT}" y="${y}" width="${own}" height="${BAR}"/>
<rect class="redis" x="${LEFT + own}" y="${y}" width="${redis}" height="${BAR}"/>
<text x="${LEFT + own + redis + 6}" y="${base}">${figure}</text>
`;
}

function total({ cpu, redisCpu }: Result): number {
  return cpu.median + redisCpu.median;
}
