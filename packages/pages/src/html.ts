/** Safe markup, which only `html` creates. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = Html | readonly Html[] | string | number | null;

/** Escapes every value that is not markup; `null` becomes empty. */
export function html(
  strings: TemplateStringsArray,
  ...values: readonly Value[]
): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(markup)));
}

function markup(value: Value): string {
  if (value === null) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return String(value).replace(
    /[&<>"']/g,
    (character) => `&#${character.charCodeAt(0)};`,
  );
}

/** Backticks mark code. */
export function withCode(sentence: string): Html[] {
  const parts = sentence.split('`');
  return parts.map((part, index) =>
    index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`,
  );
}
