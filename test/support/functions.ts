import { parse } from '@babel/parser';

/** A function, and how many lines it has of its own: without the bodies of functions in it. */
export interface FunctionSize {
  readonly name: string;
  readonly lines: number;
}

interface Node {
  readonly type: string;
  readonly loc?: { readonly start: { readonly line: number }; readonly end: { readonly line: number } } | null;
  readonly id?: { readonly name?: string } | null;
  readonly key?: { readonly name?: string; readonly id?: { readonly name?: string } };
}

const FUNCTION =
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ObjectMethod|Class(Private)?Method)$/;

/** All functions of a text. A function without a name has that of the variable or member that it is given to. */
export function functionsIn(text: string): FunctionSize[] {
  const found: FunctionSize[] = [];
  const ast = parse(text, { sourceType: 'module', plugins: ['typescript'] });
  visit(ast.program as unknown as Node, '', found);
  return found;
}

/** Returns the lines of the functions in `node` that are not in another of them, each without its first. */
function visit(node: Node, outer: string, found: FunctionSize[]): number {
  const name = node.id?.name ?? node.key?.name ?? node.key?.id?.name ?? outer;
  let inner = 0;
  for (const child of childrenOf(node)) inner += visit(child, name, found);
  if (!FUNCTION.test(node.type) || !node.loc) return inner;
  const beyondFirst = node.loc.end.line - node.loc.start.line;
  found.push({ name: name || 'without a name', lines: beyondFirst + 1 - inner });
  return beyondFirst;
}

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof (value as Node | null)?.type === 'string');
}
