import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { deleteCommand } from '../../cli/crud/deletecommand.ts';

export default class TransactiontagsDelete extends deleteCommand(transactionTags, 1900000000004) {
  static override description = 'Asks first on a terminal. A predefined tag cannot be deleted.';
}
