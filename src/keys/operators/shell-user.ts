import { userInfo } from 'node:os';

/** Header in which a command tells a gateway who runs it: a `cli:` name, percent-encoded. */
export const SHELL_USER_HEADER = 'X-Storegate-User';

/** `cli:` keeps these names apart from those of tokens, which have no colon, and from `local`. */
const SHELL_USER = /^cli:[^\p{Cc}]{1,96}$/u;

/**
 * The user of the operating system that runs this process, as an operator's name: `cli:<user>`, or `cli:<uid>` without
 * a name.
 */
export function shellUser(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch (error) {
    // Containers may run under a number that no user has.
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR') return `cli:${process.getuid!()}`;
    throw error;
  }
}

/** As the header carries it. */
export function encodeShellUser(name: string): string {
  return encodeURIComponent(name);
}

/** The name in a header; `null`: it is none. */
export function decodeShellUser(header: string): string | null {
  try {
    const name = decodeURIComponent(header);
    return SHELL_USER.test(name) ? name : null;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
