import { CONSOLE_PATH, createConsole } from '@storegate/console';
import type { FindPage } from '@storegate/pages';
import { createOperatorsReference } from '@storegate/reference';
import { ADMIN_ERRORS } from '../admin/admin-error.ts';
import { adminContract } from '../admin/api.ts';

/** The console, and the reference of the admin API below it. */
export function createConsolePages(): FindPage {
  const console = createConsole();
  const reference = createOperatorsReference({
    contract: adminContract(),
    prefix: `${CONSOLE_PATH}/reference/`,
    api: `${CONSOLE_PATH}/api`,
    console: `${CONSOLE_PATH}/`,
    errors: ADMIN_ERRORS,
  });
  return async (path, request) =>
    (await console(path, request)) ?? (await reference(path, request));
}
