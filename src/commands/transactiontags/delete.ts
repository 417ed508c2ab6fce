import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { DeleteCommand, deleteFlags } from '../../cli/crud/deletecommand.ts';
import { idsArgument } from '../../cli/flags/idlist.ts';

export default class TransactiontagsDelete extends DeleteCommand {
  static override summary = 'Delete a transaction tag';
  static override description = 'Asks first on a terminal. A predefined tag cannot be deleted.';
  static override examples = [
    '<%= config.bin %> transactiontags delete 1900000000004',
    '<%= config.bin %> transactiontags delete 1900000000004 --yes --json',
  ];
  static override args = idsArgument('Ids of transaction tags');
  static override flags = deleteFlags;
  protected override readonly resource = transactionTags;
}
