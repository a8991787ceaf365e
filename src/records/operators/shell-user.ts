import { userInfo } from 'node:os';

/** `cli:` separates these names from token names, which have no colon, and from `local`. */
const SHELL_USER = /^cli:[^\p{Cc}]{1,96}$/u;

export function shellUser(): string {
  try {
    return `cli:${userInfo().username}`;
  } catch (error) {
    // Containers may run under a uid without a user.
    if ((error as NodeJS.ErrnoException).code === 'ERR_SYSTEM_ERROR')
      return `cli:${process.getuid!()}`;
    throw error;
  }
}

export function decodeShellUser(header: string): string | null {
  try {
    const name = decodeURIComponent(header);
    return SHELL_USER.test(name) ? name : null;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
