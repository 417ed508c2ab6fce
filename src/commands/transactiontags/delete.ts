import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { DeleteCommand, deleteFlags } from '../../cli/deletecommand.ts';
import { idArgument } from '../../cli/resourcecommand.ts';

export default class TransactiontagsDelete extends DeleteCommand {
  static override summary = 'Delete a transaction tag';
  static override description = 'Asks first on a terminal. A predefined tag cannot be deleted.';
  static override examples = [
    '<%= config.bin %> transactiontags delete 1900000000001',
    '<%= config.bin %> transactiontags delete 1900000000001 --yes --json',
  ];
  static override args = idArgument('Id of the transaction tag');
  static override flags = deleteFlags;
  protected override readonly resource = transactionTags;
}
