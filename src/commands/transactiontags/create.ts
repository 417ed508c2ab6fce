import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { CreateCommand, createFlags } from '../../cli/crud/createcommand.ts';

export default class TransactiontagsCreate extends CreateCommand {
  static override summary = 'Create a transaction tag';
  static override examples = [
    "<%= config.bin %> transactiontags create --tag-text 'Payment plan' --is-predefined false --tag-type PAYMENT_TAG",
    '<%= config.bin %> transactiontags create --data tag.json --dry-run',
  ];
  static override flags = createFlags(transactionTags);
  protected override readonly resource = transactionTags;
}
