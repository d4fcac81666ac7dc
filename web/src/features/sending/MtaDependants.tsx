import { useQuery } from "@tanstack/react-query";
import { Holders } from "../../ui/Holders";
import { catalogue } from "../../base/words/catalogue";
import { mtaUseQuery } from "./queries";

const words = catalogue("sending.mtaDependants", {
	none: "Nothing uses it.",
	need: "These use it and need another one:",
	account: "The workspace sends through it unless a sender or a broadcast has its own.",
});

/** MtaDependants lists what names an MTA config. */
export function MtaDependants({ id }: { id: string }) {
	const query = useQuery(mtaUseQuery(id));
	const used = query.data?.usage;
	if (!used) return null;
	const { account, ...holders } = used;
	const any = Object.values(holders).some((list) => list.length > 0);
	return (
		<>
			{account && <p>{words.account}</p>}
			{any && <p>{words.need}</p>}
			<Holders usage={holders} />
			{!any && !account && <p>{words.none}</p>}
		</>
	);
}
