import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { createCommand } from '../../cli/crud/writecommands.ts';

export default class TransactiontagsCreate extends createCommand(transactionTags) {
  static override examples = [
    "<%= config.bin %> transactiontags create --tag-text 'Payment plan' --is-predefined false --tag-type PAYMENT_TAG",
    '<%= config.bin %> transactiontags create --data tag.json --dry-run',
  ];
}
