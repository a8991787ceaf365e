type Attributes = Readonly<Record<string, string | number>>;

/** Colours follow the reader's scheme. */
const STYLE = `<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.small { font-size: 12px; fill: #59636e }
.line { stroke: #8c959f; fill: none } .frame { stroke: #8c959f; fill: #f6f8fa }
.good { fill: #1a7f37 } .bad { fill: #cf222e } .warn { fill: #bc4c00 } .plain { fill: #0969da }
.light { fill: #fff }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small { fill: #9198a1 }
  .line { stroke: #6e7681 } .frame { stroke: #6e7681; fill: #151b23 }
  .good { fill: #238636 } .bad { fill: #da3633 } .warn { fill: #bd561d } .plain { fill: #1f6feb }
}
</style>`;

/** A picture whose `title` is read by screen readers. */
export function picture(title: string, width: number, height: number, parts: string[]): string {
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img"`;
  return `${head} aria-label="${escapeXml(title)}">\n${STYLE}\n${parts.join('\n')}\n</svg>\n`;
}

export function text(x: number, y: number, content: string, attributes: Attributes = {}): string {
  return `<text${written({ x, y, ...attributes })}>${escapeXml(content)}</text>`;
}

export function box(
  kind: string,
  [x, y, width, height]: readonly [number, number, number, number],
): string {
  return `<rect${written({ class: kind, x, y, width, height, rx: 3 })}/>`;
}

export function line(points: readonly (readonly [number, number])[]): string {
  return `<polyline class="line" points="${points.map((point) => point.join(',')).join(' ')}"/>`;
}

function written(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${value}"`)
    .join('');
}

function escapeXml(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
