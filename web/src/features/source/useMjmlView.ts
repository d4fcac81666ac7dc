import { useParams } from "../../base/params";
import { useSession } from "../../base/session";
import { type MjmlView, viewOf } from "./mjmlView";

const prefix = "packetboat-mjml-";

function chosenBy(user: string): string | null {
	try {
		return localStorage.getItem(prefix + user);
	} catch {
		return null; // storage is off
	}
}

function keep(user: string, view: MjmlView) {
	try {
		if (view === "design") localStorage.removeItem(prefix + user);
		else localStorage.setItem(prefix + user, view);
	} catch {
		// Storage is off: the address alone has it.
	}
}

/** useMjmlView returns how MJML is shown, and functions that show a view: because it is chosen, or because it has what is looked for. */
export function useMjmlView() {
	const [params, set] = useParams();
	const { user } = useSession();
	const show = (view: MjmlView) => set({ mjml: view });
	return {
		view: viewOf(params.get("mjml"), chosenBy(user.id)),
		show,
		choose: (view: MjmlView) => {
			keep(user.id, view);
			show(view);
		},
	};
}
