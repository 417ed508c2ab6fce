import { transactions } from '../../catalog/resources/transactions.ts';
import { GetCommand, getFlags } from '../../cli/crud/getcommand.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';

export default class TransactionsGet extends GetCommand {
  static override summary = 'Show one transaction';
  static override examples = [
    '<%= config.bin %> transactions get 9000000000001',
    '<%= config.bin %> transactions get 9000000000001 --json',
  ];
  static override args = idArgument('Id of the transaction');
  static override flags = getFlags;
  protected override readonly resource = transactions;
}
