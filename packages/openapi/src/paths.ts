import type { Document } from './document/document.ts';
import type { Json } from './document/source.ts';
import type { Findings } from './findings.ts';
import { methodsIn, type Operations } from './operations.ts';
import { namesIn, outlineOf, parseTemplate, type Segment, TemplateError } from './template.ts';
import type { Operation } from './types.ts';

export class Paths {
  readonly #document: Document;
  readonly #findings: Findings;
  readonly #spellings = new Map<string, Map<string, string>>();

  constructor(document: Document, findings: Findings) {
    this.#document = document;
    this.#findings = findings;
  }

  read(operations: Operations): void {
    const { root } = this.#document;
    if (root.paths === undefined) this.#findings.problem(root, null, this.#document.dialect.withoutPaths);
    for (const [path, value] of this.#document.members(root.paths)) {
      const item = this.#document.object(value);
      if (!item || path.startsWith('x-')) continue;
      operations.read(path, item, namesIn(path));
      this.#add(path, item);
    }
  }

  canMatch({ path, method }: Pick<Operation, 'path' | 'method'>): boolean {
    return this.#spellings.values().some((spellings) => spellings.get(method.toLowerCase()) === path);
  }

  /** OpenAPI 3.0.3 forbids two spellings of one path, but real documents use them with different methods. */
  #add(path: string, item: Json): void {
    const paths = this.#document.root.paths as Json;
    const segments = this.#template(paths, path);
    if (!segments) return;
    const outline = outlineOf(segments);
    const spellings = this.#spellings.get(outline) ?? new Map<string, string>();
    const [first] = spellings.values();
    let rivals = 0;
    for (const method of methodsIn(item)) {
      const rival = spellings.get(method);
      if (rival === undefined) spellings.set(method, path);
      else {
        rivals++;
        this.#findings.problem(item, method, `cannot be distinguished from ${rival}`);
      }
    }
    if (first !== undefined && rivals === 0)
      this.#findings.note(paths, path, `is one path with ${first}, which has other methods`);
    this.#spellings.set(outline, spellings);
  }

  #template(paths: object, path: string): readonly Segment[] | null {
    try {
      return parseTemplate(path);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.#findings.problem(paths, path, `the path ${path} ${error.message}`);
      return null;
    }
  }
}
