import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';
import { UpdateCommand, updateFlags } from '../../cli/crud/updatecommand.ts';

export default class TransactiontagsUpdate extends UpdateCommand {
  static override summary = 'Change a transaction tag; only what is given changes';
  static override description = 'A predefined tag cannot be changed.';
  static override examples = [
    "<%= config.bin %> transactiontags update 1900000000004 --tag-text 'Paid online'",
    "<%= config.bin %> transactiontags update 1900000000004 --tag-text 'Paid online' --dry-run",
  ];
  static override args = idArgument('Id of the transaction tag');
  static override flags = updateFlags(transactionTags);
  protected override readonly resource = transactionTags;
}
