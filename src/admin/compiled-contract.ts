import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { checkContract, serialize } from '@storegate/openapi';

/** The contract of the admin API for `deserialize`. Without the paths of this machine. */
export function compileAdminContract() {
  const { compiled } = checkContract(ADMIN_CONTRACT);
  return serialize({ ...compiled, files: new Map() });
}
