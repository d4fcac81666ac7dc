import { useQuery } from "@tanstack/react-query";
import type { BroadcastRow } from "../../api/schema";
import { StateBadge } from "../../ui/Badge";
import { LinkButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { MailFrame } from "../../ui/MailFrame";
import { Failure, Skeleton } from "../../ui/States";
import { catalogue } from "../../base/words/catalogue";
import { Problems } from "./Problems";
import { previewQuery } from "./queries";

const words = catalogue("broadcasts.peek", { open: "Open" });

/** Peek shows the mail of a broadcast beside the list. */
export function Peek({ broadcast, to, onClose }: { broadcast: BroadcastRow; to: string; onClose: () => void }) {
	const preview = useQuery(
		previewQuery(broadcast.id, { source: { broadcast_id: broadcast.id }, changed: broadcast.updated_at }),
	);
	const p = preview.data;
	return (
		<Dialog
			drawer="wide"
			title={broadcast.name}
			onClose={onClose}
			footer={<LinkButton to={to}>{words.open}</LinkButton>}
		>
			<p>
				<StateBadge kind="broadcast" state={broadcast.status} />
			</p>
			{preview.isPending && <Skeleton rows={8} />}
			{preview.isError && <Failure error={preview.error} retry={() => void preview.refetch()} />}
			{p && (
				<>
					<p>
						<b>{p.subject}</b>
					</p>
					{p.problems.length > 0 && <Problems problems={p.problems} />}
					<MailFrame html={p.html} text={p.text} size={p.size} />
				</>
			)}
		</Dialog>
	);
}
