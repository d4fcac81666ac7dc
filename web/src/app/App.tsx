import { QueryClientProvider, useQueryClient } from "@tanstack/react-query";
import { Component, type ReactNode, Suspense, useEffect, useLayoutEffect, useState } from "react";
import { Redirect, Route, Router, Switch, useLocation } from "wouter";
import { onRateLimit, setWorkspace } from "../api/client";
import type { ShellView } from "../api/schema";
import { Page, countNavigation } from "../ui/Page";
import { SearchButton } from "../ui/SearchButton";
import { Empty, Failure } from "../ui/States";
import { countdown, undoLast } from "../ui/Toast";
import { catalogue } from "../base/words/catalogue";
import { setTimeZone } from "../base/words/formats";
import { openDraftStorage } from "../sync/deviceStorage";
import { persistAnswers, restore } from "../base/persistence";
import { showDensityOf } from "../base/density";
import { chooser, chooserQuery, lastWorkspace, rememberWorkspace } from "../base/lastWorkspace";
import { lazyComponent } from "../base/lazy";
import { saveAll } from "../sync/pendingSaves";
import { connect, watchAnswers } from "../base/live";
import { newClient } from "../base/query";
import { runPageAction } from "../base/pageActions";
import { CodePage, Loading } from "./page";
import { pages, prefetch, prefetchAll } from "./routes";
import { Shell } from "./Shell";
import { SessionProvider, WorkspaceProvider } from "../base/session";
import { useOneSession, useSessionQuery } from "../sync/session";
import { holdRequests } from "../base/sessionEnd";
import { startPrefix, useShortcuts } from "../base/shortcuts";
import { navigation } from "./navigation";
import { Welcome } from "../features/signin/Welcome";
import { Button, LinkButton } from "../ui/Button";
import { explain } from "../base/words/errors";
import { shellQuery } from "../base/shell";
import { outside, to } from "../base/paths";

const SignIn = lazyComponent(() => import("../features/signin/SignIn"));
const LoginLink = lazyComponent(() => import("../features/signin/LoginLink"));
const Forgot = lazyComponent(() => import("../features/signin/Forgot"));
const Chooser = lazyComponent(() => import("../features/signin/Chooser"));
const SignUp = lazyComponent(() => import("../features/signin/SignUp"));
const Accept = lazyComponent(() => import("../features/signin/Accept"));
const Reset = lazyComponent(() => import("../features/signin/Reset"));
const Me = lazyComponent(() => import("../features/settings/Me"));
const SignInDialog = lazyComponent(() => import("./SignInDialog"));

const words = catalogue("shell.app", {
	unknown: "Page not found",
	away: "The server is not responding correctly",
	again: "Try again",
	unknownText: "Check the address. The page may also belong to a newer version of the application.",
	home: "Home",
	notYours: "You are not a member of this workspace",
	notYoursText: "Choose another workspace, or ask one of its members for an invitation.",
	choose: "Choose a workspace",
	crashed: "This page stopped working",
	changed: "This page could not be loaded. A new version of the application may be available.",
	wait: "{count, plural, one {Too many requests. Continuing in # second.} other {Too many requests. Continuing in # seconds.}}",
});

const client = newClient();

watchAnswers(client);
onRateLimit((seconds) => countdown(seconds, (count) => words.wait({ count })));

// The code of the page that the address names comes while the session is read.
const first = /^\/app\/[^/-][^/]*(\/.*)?$/.exec(window.location.pathname);
if (first) prefetch(first[1] || "/");

const root = outside.workspaces.slice(0, -1);

/** withoutRoot returns a path below that of the application, as its routes have it. */
const withoutRoot = (path: string) => path.slice(root.length);

/** App is the whole application. */
export function App() {
	return (
		<QueryClientProvider client={client}>
			<Boundary>
				<Suspense fallback={null}>
					<Switch>
						<Route path={outside.signUp} component={SignUp} />
						<Route path={outside.acceptInvitation} component={Accept} />
						<Route path={outside.resetPassword} component={Reset} />
						<Route>
							<Router base={root}>
								<Switch>
									<Route path={withoutRoot(outside.login)} component={SignIn} />
									<Route path={withoutRoot(outside.loginLink)} component={LoginLink} />
									<Route path={withoutRoot(outside.forgotPassword)} component={Forgot} />
									<Route>
										<SignedIn />
									</Route>
								</Switch>
							</Router>
						</Route>
					</Switch>
				</Suspense>
			</Boundary>
		</QueryClientProvider>
	);
}

/** SignedIn are the pages that need a session. */
function SignedIn() {
	const session = useSessionQuery();
	const [path] = useLocation();
	const person = session.data?.user.id;
	useOneSession(person);
	useEffect(() => (person ? holdRequests() : undefined), [person]);
	useLayoutEffect(() => {
		if (person) showDensityOf(person);
	}, [person]);
	if (session.isPending) return null;
	if (session.isError) {
		return (
			<Welcome title={words.away}>
				<p role="alert">{explain(session.error)}</p>
				<Button onClick={() => void session.refetch()}>{words.again}</Button>
			</Welcome>
		);
	}
	if (!session.data)
		return (
			<Redirect
				to={`${withoutRoot(outside.login)}?next=${encodeURIComponent(path + window.location.search)}`}
				replace
			/>
		);
	const { memberships } = session.data;
	const last = lastWorkspace();
	const home =
		memberships.length === 1
			? memberships[0]
			: window.location.search === chooserQuery
				? undefined
				: memberships.find((membership) => membership.tenant_slug === last);
	return (
		<SessionProvider session={session.data}>
			<Switch>
				<Route path="/">{home ? <Redirect to={`/${home.tenant_slug}`} replace /> : <Chooser />}</Route>
				<Route path={withoutRoot(outside.me)} component={Me} />
				<Route path="/:slug" nest>
					{({ slug }) => {
						const workspace = memberships.find((membership) => membership.tenant_slug === slug);
						if (!workspace) return <NotMember slug={slug} />;
						setWorkspace(workspace.tenant_slug);
						return (
							<WorkspaceProvider workspace={workspace}>
								<Workspace
									slug={workspace.tenant_slug}
									id={workspace.tenant_id}
									user={session.data?.user.id ?? ""}
									key={workspace.tenant_id}
								/>
							</WorkspaceProvider>
						);
					}}
				</Route>
			</Switch>
			<Suspense fallback={null}>
				<SignInDialog />
			</Suspense>
		</SessionProvider>
	);
}

function Workspace({ slug, id, user }: { slug: string; id: string; user: string }) {
	const [path, navigate] = useLocation();
	const cache = useQueryClient();
	const [restored, setRestored] = useState(false);
	useEffect(() => {
		void Promise.all([restore(cache, user, slug), openDraftStorage(user, id)]).finally(() => setRestored(true));
		return persistAnswers(cache, user, slug);
	}, [cache, user, slug, id]);
	useEffect(() => connect(cache, slug), [cache, slug]);
	useEffect(() => rememberWorkspace(slug), [slug]);
	useEffect(prefetchAll, []);
	useEffect(() => {
		const account = cache.getQueryCache().subscribe((event) => {
			if (event.type !== "updated" || event.query.queryKey[0] !== slug) return;
			const { data } = event.query.state;
			if (event.query.queryKey[1] === "shell" && data) setTimeZone((data as ShellView).account.timezone);
			// What a page reads or changes of the account is shown around it, too.
			if (event.query.queryKey[1] === "account" && event.action.type === "success")
				cache.setQueryData(
					shellQuery().queryKey,
					(shell) => shell && { ...shell, account: data as ShellView["account"] },
				);
		});
		return account;
	}, [cache, slug]);
	useEffect(() => {
		void path;
		return countNavigation;
	}, [path]);
	useShortcuts({
		g: () => startPrefix("g"),
		c: () => runPageAction("create"),
		e: () => runPageAction("edit"),
		"mod+enter": () => runPageAction("primary", "create"),
		"mod+z": () => void undoLast(),
		...Object.fromEntries(
			navigation()
				.flatMap((group) => group.entries)
				.filter((entry) => entry.shortcut)
				.map((entry) => [`g ${entry.shortcut}`, () => navigate(entry.to)]),
		),
	});
	if (!restored) return null;
	return (
		<Shell>
			<Boundary key={path}>
				<Suspense fallback={<Loading />}>
					<Switch>
						{pages.map((page) => (
							<Route key={page.path} path={page.path}>
								<CodePage code={page.code} />
							</Route>
						))}
						<Route>
							<Page title={words.unknown}>
								<Empty
									action={
										<>
											<LinkButton to={to.home()}>{words.home}</LinkButton>
											<SearchButton />
										</>
									}
								>
									{words.unknownText}
								</Empty>
							</Page>
						</Route>
					</Switch>
				</Suspense>
			</Boundary>
		</Shell>
	);
}

/** NotMember is the page of a workspace that is not one of the person's. No workspace is called "-". */
function NotMember({ slug }: { slug: string }) {
	return (
		<Welcome title={slug === "-" ? words.unknown : words.notYours}>
			<p>{slug === "-" ? words.unknownText : words.notYoursText}</p>
			<LinkButton to={`~${chooser}`}>{words.choose}</LinkButton>
		</Welcome>
	);
}

/** Boundary shows an error of a page in its place. */
class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
	override state = { error: null as unknown };
	static getDerivedStateFromError(error: unknown) {
		return { error };
	}
	override render() {
		const { error } = this.state;
		if (error === null) return this.props.children;
		const missing = error instanceof TypeError && /module|import/i.test(error.message); // its file is of another version
		return (
			<Page title={missing ? words.changed : words.crashed}>
				<Failure
					title={null}
					error={missing ? null : error}
					retry={() => void saveAll().then(() => window.location.reload())}
				/>
			</Page>
		);
	}
}
