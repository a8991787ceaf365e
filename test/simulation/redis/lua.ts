import { readScript } from '../../../src/state/redis/scripts.ts';
import { RedisFailure, type Reply } from './protocol.ts';

/** A table of Lua; its sequence begins at 1. */
class Table {
  readonly list: unknown[] = [];
  readonly fields = new Map<unknown, unknown>();

  static of(values: readonly unknown[]): Table {
    const table = new Table();
    table.list.push(...values);
    table.#trim();
    return table;
  }

  get(key: unknown): unknown {
    return this.#isPlace(key) ? this.list[key - 1] : this.fields.get(key);
  }

  set(key: unknown, value: unknown): void {
    if (this.#isPlace(key) || (key === this.list.length + 1 && value !== undefined))
      this.list[(key as number) - 1] = value;
    else this.fields.set(key, value);
    this.#trim();
  }

  #trim(): void {
    while (this.list.length > 0 && this.list.at(-1) === undefined) this.list.pop();
  }

  #isPlace(key: unknown): key is number {
    return typeof key === 'number' && key >= 1 && key <= this.list.length;
  }
}

/** What a table of JSON has for `null`, which no script takes for missing. */
const NULL = Symbol('null');
type Functions = Readonly<Record<string, (...args: never[]) => unknown>>;

function tableOf(fields: object): Table {
  const table = new Table();
  for (const [name, value] of Object.entries(fields)) table.set(name, value);
  return table;
}

/** A function of Lua that returns several values, or none, returns an array of JavaScript. */
const all = (value: unknown) => (Array.isArray(value) ? value : [value]);
const first = (value: unknown) => (Array.isArray(value) ? value[0] : value);
const is = (value: unknown) => value !== undefined && value !== false;
const size = (value: string | Table) =>
  typeof value === 'string' ? value.length : value.list.length;
const get = (table: Table, key: unknown) => table.get(key);
const set = (table: Table, key: unknown, value: unknown) => table.set(key, value);

function text(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new Error(`a script takes ${typeof value} for text`);
}

/** The language itself, for the code that `Translation` writes. */
const LANGUAGE = { all, first, is, size, get, set, text, Table };

function ofJson(value: unknown): unknown {
  if (value === null) return NULL;
  if (Array.isArray(value)) return Table.of(value.map(ofJson));
  if (typeof value !== 'object') return value;
  return tableOf(Object.fromEntries(Object.entries(value).map(([k, one]) => [k, ofJson(one)])));
}

/** Classes of characters have the same letters. */
const pattern = (given: string, flags = '') => new RegExp(given.replace(/%(.)/g, '\\$1'), flags);
const captures = ([whole, ...parts]: RegExpMatchArray) => (parts.length === 0 ? [whole] : parts);

const STRING: Functions = {
  format: (form: string, value: unknown) =>
    form.replace(/%(\.0f|d)/, () => String(Math.round(Number(value)))),
  gmatch: (given: string, form: string) => [...given.matchAll(pattern(form, 'g'))].map(captures),
  gsub: (given: string, form: string, by: string) => given.replaceAll(pattern(form, 'g'), by),
  match: (given: string, form: string) => captures(given.match(pattern(form)) ?? ([] as never)),
  sub: (given: string, from: number, to: number) => given.slice(from - 1, to),
};
const TABLE: Functions = {
  concat: ({ list }: Table, between = '') => list.map(text).join(between),
  remove: (table: Table, at = table.list.length) => table.list.splice(at - 1, 1)[0],
};
/** Only scripts read what others have packed. */
const PACKING: Functions = {
  pack: ({ list }: Table) => JSON.stringify(list),
  unpack: (packed: string) => ofJson(JSON.parse(packed)),
};
const TYPES: Readonly<Record<string, string>> = { object: 'table', symbol: 'userdata' };

function* sequence({ list }: Table): Iterable<[number, unknown]> {
  for (let i = 0; list[i] !== undefined; i++) yield [i + 1, list[i]];
}

const GLOBALS = tableOf({
  math: tableOf({ floor: Math.floor, ceil: Math.ceil, max: Math.max, min: Math.min }),
  string: tableOf(STRING),
  table: tableOf(TABLE),
  cjson: tableOf({ decode: (json: string) => ofJson(JSON.parse(json)) }),
  cmsgpack: tableOf(PACKING),
  ipairs: sequence,
  type: (value: unknown) => (value === undefined ? 'nil' : (TYPES[typeof value] ?? typeof value)),
  unpack: ({ list }: Table, from = 1, to = list.length) =>
    Array.from({ length: to - from + 1 }, (_, i) => list[from - 1 + i]),
  tonumber(value: unknown) {
    const number = value === '' ? Number.NaN : Number(value);
    return Number.isNaN(number) ? undefined : number;
  },
  error(message: string) {
    throw new RedisFailure(`ERR ${message}`);
  },
  pcall(work: (...args: unknown[]) => unknown, ...args: unknown[]) {
    try {
      return [true, ...all(work(...args))];
    } catch (error) {
      return [false, (error as Error).message];
    }
  },
});

const TOKENS = /\s+|--[^\n]*|'(?:[^'\\]|\\.)*'|\d+|\w+|\.\.|[=~<>]=|[-+*/%#<>=(){}[\];,.]/g;
const LEVELS = [
  ['or'],
  ['and'],
  ['<', '>', '<=', '>=', '~=', '=='],
  ['..'],
  ['+', '-'],
  ['*', '/', '%'],
];
const OPERATORS: Readonly<Record<string, (one: string, other: string) => string>> = {
  or: (one, other) => `(is(it = ${one}) ? it : ${other})`,
  and: (one, other) => `(is(it = ${one}) ? ${other} : it)`,
  '..': (one, other) => `(text(${one}) + text(${other}))`,
  '+': (one, other) => `(+${one} + +${other})`,
  '==': (one, other) => `(${one} === ${other})`,
  '~=': (one, other) => `(${one} !== ${other})`,
};

interface Expression {
  readonly code: string;
  readonly isCall?: boolean;
  /** Code that gives it this value. */
  readonly assign?: (value: string) => string;
}

const one = ({ code, isCall }: Expression) => (isCall ? `first(${code})` : code);
/** The last call of a list gives all of its values. */
const many = (list: readonly Expression[]) =>
  list
    .map((each, i) => (each.isCall && i === list.length - 1 ? `...all(${each.code})` : one(each)))
    .join();

/** Translates the part of Lua 5.1 that our scripts use to JavaScript. */
class Translation {
  readonly #tokens: string[];
  /** Names of JavaScript by those of Lua, the innermost block last. */
  readonly #scopes: Map<string, string>[] = [new Map(['redis', 'KEYS', 'ARGV'].map((n) => [n, n]))];
  #at = 0;
  #names = 0;

  constructor(lua: string) {
    const tokens = lua.match(TOKENS)!;
    if (tokens.join('') !== lua) throw new Error('a script has a character that is not translated');
    this.#tokens = tokens.filter((token) => !/^(\s|--)/.test(token));
  }

  program(): string {
    return `let it; ${this.#block()}`;
  }

  get #next(): string | undefined {
    return this.#tokens[this.#at];
  }

  #take(): string {
    return this.#tokens[this.#at++]!;
  }

  #has(token: string): boolean {
    if (this.#next !== token) return false;
    this.#at++;
    return true;
  }

  #expect(token: string): void {
    if (!this.#has(token)) throw new Error(`${token} is missing before ${this.#next}`);
  }

  #declare(name: string): string {
    const own = `${name}$${this.#names++}`;
    this.#scopes.at(-1)!.set(name, own);
    return own;
  }

  #list<T>(read: () => T): T[] {
    const all = [read()];
    while (this.#has(',')) all.push(read());
    return all;
  }

  readonly #expressions = () => this.#list(() => this.#expression());

  /** Up to one of the words that end it; `names`: declared in it. */
  #block(names: readonly string[] = [], begin = (_own: readonly string[]) => ''): string {
    this.#scopes.push(new Map());
    let code = begin(names.map((name) => this.#declare(name)));
    while (this.#next !== undefined && !['end', 'else', 'elseif'].includes(this.#next))
      code += `${this.#statement()}\n`;
    this.#scopes.pop();
    return code;
  }

  #body(names: readonly string[] = [], begin?: (own: readonly string[]) => string): string {
    const code = this.#block(names, begin);
    this.#expect('end');
    return `{ ${code} }`;
  }

  #statement(): string {
    if (this.#has('local')) return this.#local();
    if (this.#has('if')) return this.#if();
    if (this.#has('for')) return this.#for();
    if (this.#has('break')) return 'break;';
    if (this.#has('return')) return this.#return();
    if (this.#has('while')) {
      const condition = one(this.#expression());
      this.#expect('do');
      return `while (is(${condition})) ${this.#body()}`;
    }
    if (this.#has('function')) return this.#method();
    const target = this.#suffixed();
    if (target.isCall) return `${target.code};`;
    const targets = [target];
    while (this.#has(',')) targets.push(this.#suffixed());
    this.#expect('=');
    const values = this.#expressions();
    if (targets.length === 1) return `${target.assign!(one(values[0]!))};`;
    const assigned = targets.map(({ assign }, i) => `${assign!(`values[${i}]`)};`);
    return `{ const values = [${many(values)}]; ${assigned.join(' ')} }`;
  }

  #method(): string {
    const { code } = this.#primary();
    this.#expect('.');
    return `${field(code, JSON.stringify(this.#take())).assign!(this.#function())};`;
  }

  #local(): string {
    if (this.#has('function')) return `let ${this.#declare(this.#take())} = ${this.#function()};`;
    const names = this.#list(() => this.#take());
    const values = this.#has('=') ? this.#expressions() : [];
    if (names.length === 1 && values.length === 1) {
      const value = one(values[0]!);
      return `let ${this.#declare(names[0]!)} = ${value};`;
    }
    return `let [${names.map((name) => this.#declare(name)).join()}] = [${many(values)}];`;
  }

  #if(): string {
    const condition = one(this.#expression());
    this.#expect('then');
    const code = `if (is(${condition})) { ${this.#block()} }`;
    if (this.#has('elseif')) return `${code} else ${this.#if()}`;
    if (this.#has('else')) return `${code} else ${this.#body()}`;
    this.#expect('end');
    return code;
  }

  #for(): string {
    const names = this.#list(() => this.#take());
    if (!this.#has('=')) {
      this.#expect('in');
      const { code } = this.#expression();
      this.#expect('do');
      const body = this.#body(names, (own) => `let [${own.join()}] = each;`);
      return `for (const each of ${code}) ${body}`;
    }
    const [from, to, step = '1'] = this.#expressions().map(one);
    this.#expect('do');
    const i = `i$${this.#names++}`;
    const body = this.#body(names, ([own]) => `let ${own} = ${i};`);
    const goesOn = step.startsWith('(-') ? `${i} >= end` : `${i} <= end`;
    return `for (let ${i} = +${from}, end = +${to}; ${goesOn}; ${i} += ${step}) ${body}`;
  }

  #return(): string {
    if (this.#next === 'end' || this.#next === undefined) return 'return;';
    const values = this.#expressions();
    return values.length === 1 ? `return ${values[0]!.code};` : `return [${many(values)}];`;
  }

  #function(): string {
    this.#expect('(');
    const names = this.#next === ')' ? [] : this.#list(() => this.#take());
    this.#expect(')');
    let own: readonly string[] = [];
    const body = this.#body(names, (declared) => {
      own = declared;
      return 'let it;';
    });
    return `function (${own.join()}) ${body}`;
  }

  #expression(level = 0): Expression {
    const operators = LEVELS[level];
    if (!operators) return this.#unary();
    let left = this.#expression(level + 1);
    while (operators.includes(this.#next!)) {
      const operator = this.#take();
      const [a, b] = [one(left), one(this.#expression(level + 1))];
      left = { code: OPERATORS[operator]?.(a, b) ?? `(${a} ${operator} ${b})` };
    }
    return left;
  }

  #unary(): Expression {
    if (this.#has('not')) return { code: `(!is(${one(this.#unary())}))` };
    if (this.#has('#')) return { code: `size(${one(this.#unary())})` };
    if (this.#has('-')) return { code: `(-${one(this.#unary())})` };
    return this.#suffixed();
  }

  #suffixed(): Expression {
    let left = this.#primary();
    for (;;) {
      const of = one(left);
      if (this.#has('.')) left = field(of, JSON.stringify(this.#take()));
      else if (this.#has('[')) {
        left = field(of, one(this.#expression()));
        this.#expect(']');
      } else if (this.#has('(')) {
        const args = this.#next === ')' ? [] : this.#expressions();
        this.#expect(')');
        left = { code: `${of}(${many(args)})`, isCall: true };
      } else return left;
    }
  }

  #primary(): Expression {
    const token = this.#take();
    if (token === '(') {
      const code = `(${one(this.#expression())})`;
      this.#expect(')');
      return { code };
    }
    if (token === '{') return { code: this.#table() };
    if (token === 'function') return { code: this.#function() };
    if (token === 'nil') return { code: 'undefined' };
    if (/^(\d|true$|false$)/.test(token)) return { code: token };
    if (token.startsWith("'")) return { code: token };
    const name = this.#scopes.findLast((scope) => scope.has(token))?.get(token);
    if (name === undefined) return { code: `globals.get(${JSON.stringify(token)})` };
    return { code: name, assign: (value) => `${name} = ${value}` };
  }

  /** Values in their order, and fields with names. */
  #table(): string {
    const values: Expression[] = [];
    const fields: string[] = [];
    while (!this.#has('}')) {
      const isNamed = this.#next === '[' || this.#tokens[this.#at + 1] === '=';
      if (!isNamed) values.push(this.#expression());
      else {
        const isName = !this.#has('[');
        const name = isName ? JSON.stringify(this.#take()) : one(this.#expression());
        if (!isName) this.#expect(']');
        this.#expect('=');
        fields.push(`set(table, ${name}, ${one(this.#expression())});`);
      }
      this.#has(',');
    }
    const table = `Table.of([${many(values)}])`;
    return fields.length === 0
      ? table
      : `(() => { const table = ${table}; ${fields.join(' ')} return table; })()`;
  }
}

const field = (of: string, name: string): Expression => ({
  code: `get(${of}, ${name})`,
  assign: (value) => `set(${of}, ${name}, ${value})`,
});

const toLua = (reply: Reply): unknown =>
  Array.isArray(reply) ? Table.of(reply.map(toLua)) : (reply ?? false);

function replyOf(value: unknown): Reply {
  if (value instanceof Table) return [...sequence(value)].map(([, each]) => replyOf(each));
  if (!is(value)) return null;
  return typeof value === 'number' ? Math.trunc(value) : (value as string);
}

/** A script as Redis runs it. `command`: runs a command of Redis, with its words. */
export function translated(file: string) {
  const code = new Translation(readScript(file).text).program();
  const names = [...Object.keys(LANGUAGE), 'globals', 'redis', 'KEYS', 'ARGV'];
  const run = new Function(...names, code);
  return (
    keys: readonly string[],
    args: readonly string[],
    command: (words: readonly string[]) => Reply,
  ): Reply => {
    const call = (...words: unknown[]) => toLua(command(words.map(text)));
    const redis = tableOf({
      call,
      pcall(...words: unknown[]) {
        try {
          return call(...words);
        } catch (error) {
          if (!(error instanceof RedisFailure)) throw error;
          return tableOf({ err: error.message });
        }
      },
    });
    const given = [GLOBALS, redis, Table.of(keys), Table.of(args)];
    return replyOf(first(run(...Object.values(LANGUAGE), ...given)));
  };
}
